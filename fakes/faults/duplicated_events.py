"""Content events come twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class DuplicatedEvents(Fault):
    """The same events again, with the same numbers."""

    name = "duplicated-events"
    title = "Events twice"
    sentence = "Some content events are sent twice; the answer is otherwise whole."
    seen = "The same piece of text twice, with the same sequence number where there is one."
    picture = "head │ content content content … │ terminal │ end"
    meaningless = {"plain": "a plain answer has no events"}

    every: int = setting(2, "Every how many content events one is repeated.", low=1, high=1000)

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        content = 0
        for piece in answer.pieces:
            await answer.send([piece])
            if piece.part in ("content", "arguments"):
                if content % self.every == 0:
                    await answer.send([piece])
                    answer.mark("an event was sent again")
                content += 1
        await answer.end()

    def error_class(self) -> str:
        return ""


FAULT = DuplicatedEvents
