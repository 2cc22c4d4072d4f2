"""Silence in the middle of the body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.answer import UPTO
from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer, Upto


@dataclass(frozen=True)
class Stall(Fault):
    """Nothing more is sent, for a time or for ever."""

    name = "stall"
    title = "Stall inside the body"
    sentence = "After a valid prefix nothing comes any more, for a time or for ever."
    seen = "An open connection that has gone silent in the middle of an answer."
    picture = "head │ content … │ …"

    after: Upto = setting("half", "How much of the answer is sent before.", choices=UPTO)
    seconds: float = setting(
        0.0, "How long; then the rest follows. 0: for ever.", unit="s", low=0, high=3600
    )

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        await answer.send(answer.upto(self.after))
        answer.mark("silent inside the body")
        if not self.seconds:
            await answer.hold()
        await answer.pause(self.seconds)
        answer.mark("goes on")
        await answer.rest()

    def error_class(self) -> str:
        return "" if self.seconds else "timeout"


FAULT = Stall
