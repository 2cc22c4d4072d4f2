"""Headers at once, the first byte of the body late."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class SlowFirstByte(Fault):
    """A late first byte."""

    name = "slow-first-byte"
    title = "Slow first byte"
    sentence = "The headers come at once, the body only after a time; then it is good."
    seen = "A good answer whose first byte of content is late."
    picture = "head │ … content … terminal │ end"

    seconds: float = setting(10.0, "How late.", unit="s", low=0.1, high=3600)

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        answer.mark(f"first byte {self.seconds:g} s late")
        await answer.pause(self.seconds)
        await answer.rest()

    def error_class(self) -> str:
        return ""


FAULT = SlowFirstByte
