"""The terminal event comes twice."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.fault import Fault

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class DuplicateTerminal(Fault):
    """The same terminal event again."""

    name = "duplicate-terminal"
    title = "Terminal event twice"
    sentence = "The whole answer is sent, and its terminal event once more."
    seen = "A good answer that says twice that it is complete."
    picture = "head │ content … │ terminal │ terminal │ end"
    meaningless = {"plain": "a plain answer has no terminal event"}

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        for piece in answer.pieces:
            await answer.send([piece])
            if piece.part == "terminal":
                await answer.send([piece])
                answer.mark("the terminal event was sent again")
        await answer.end()

    def error_class(self) -> str:
        return ""


FAULT = DuplicateTerminal
