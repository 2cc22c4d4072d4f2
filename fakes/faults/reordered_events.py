"""Two content events change places."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.fault import Fault

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class ReorderedEvents(Fault):
    """The first two pieces of content in the wrong order."""

    name = "reordered-events"
    title = "Events in the wrong order"
    sentence = "The first two pieces of content change places; the answer is otherwise whole."
    seen = "Pieces of text in the wrong order, and sequence numbers that step back."
    picture = "head │ content 2 │ content 1 │ … terminal │ end"
    meaningless = {"plain": "a plain answer has no events"}

    async def play(self, answer: Answer) -> None:
        order = list(answer.pieces)
        content = [n for n, piece in enumerate(order) if piece.part in ("content", "arguments")]
        await answer.begin()
        if len(content) > 1:
            first, second = content[:2]
            order[first], order[second] = order[second], order[first]
            await answer.send(order[: second + 1])
            answer.mark("two events changed places")
        await answer.send(piece for piece in order if piece in answer.unsent())
        await answer.end()

    def error_class(self) -> str:
        return ""


FAULT = ReorderedEvents
