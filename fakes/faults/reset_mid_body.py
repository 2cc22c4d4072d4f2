"""The connection is reset inside the body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.answer import UPTO
from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer, Upto


@dataclass(frozen=True)
class ResetMidBody(Fault):
    """RST inside the body."""

    name = "reset-mid-body"
    title = "Reset inside the body"
    sentence = "After a valid prefix has arrived the connection is reset."
    seen = "Connection reset by peer while reading the body (curl: exit 56)."
    picture = "head │ content … content │ RST"

    after: Upto = setting("half", "How much of the answer is sent.", choices=UPTO)

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        await answer.send(answer.upto(self.after))
        answer.mark("RST inside the body")
        await answer.reset()


FAULT = ResetMidBody
