"""The body ends cleanly before the answer is whole."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.answer import UPTO
from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer, Upto


@dataclass(frozen=True)
class SseCut(Fault):
    """A proper end of the body, too early."""

    name = "sse-cut"
    title = "Clean end too early"
    sentence = "After a valid prefix the body ends properly; the terminal event never comes."
    seen = "A well-formed HTTP answer whose stream ends without saying that it is complete."
    picture = "head │ content … content │ end"

    after: Upto = setting("half", "How much of the answer is sent.", choices=UPTO)

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        await answer.send(answer.upto(self.after))
        answer.mark("ended properly before the terminal event")
        await answer.end()


FAULT = SseCut
