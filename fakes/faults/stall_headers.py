"""Silence instead of the headers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class StallHeaders(Fault):
    """Nothing is sent, for a time or for ever."""

    name = "stall-headers"
    title = "Stall before the headers"
    sentence = "The request is taken and nothing is answered, for a time or for ever."
    seen = "An open connection without one byte of an answer."
    picture = "request │ …"

    seconds: float = setting(
        0.0, "How long; then the good answer follows. 0: for ever.", unit="s", low=0, high=3600
    )

    async def play(self, answer: Answer) -> None:
        answer.mark("silent before the headers")
        if not self.seconds:
            await answer.hold()
        await answer.pause(self.seconds)
        answer.mark("goes on")
        await answer.whole()

    def error_class(self) -> str:
        return "" if self.seconds else "timeout"

    def answers(self) -> int:
        return 200 if self.seconds else 0


FAULT = StallHeaders
