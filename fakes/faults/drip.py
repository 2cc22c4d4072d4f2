"""The answer comes whole, but slowly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class Drip(Fault):
    """A pause before every event."""

    name = "drip"
    title = "Drip"
    sentence = "The whole answer comes, spread evenly over a time."
    seen = "A good answer, late, in small pieces with equal pauses."
    picture = "head │ c … c … c … terminal │ end"

    seconds: float = setting(3.0, "How long the whole answer takes.", unit="s", low=0.1, high=3600)

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        answer.mark(f"drips for {self.seconds:g} s")
        pause = self.seconds / len(answer.pieces)
        for piece in answer.pieces:
            await answer.pause(pause)
            await answer.send([piece])
        await answer.end()

    def error_class(self) -> str:
        return ""


FAULT = Drip
