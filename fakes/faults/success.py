"""No fault at all: the control."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.fault import Fault

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class Success(Fault):
    """The good answer, marked as delivered."""

    name = "success"
    title = "Nothing is broken"
    sentence = "The answer is sent whole, from its first byte to its proper end."
    seen = "A good answer."
    picture = "head │ content … content │ terminal │ end"

    async def play(self, answer: Answer) -> None:
        await answer.whole()
        answer.mark("the whole answer was sent")

    def error_class(self) -> str:
        return ""


FAULT = Success
