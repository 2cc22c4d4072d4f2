"""A good body under a wrong content type."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer

TYPES = ("text/plain", "text/html", "application/octet-stream", "application/json")


@dataclass(frozen=True)
class WrongContentType(Fault):
    """The label does not fit what is in the body."""

    name = "wrong-content-type"
    title = "Wrong content type"
    sentence = "The good answer is sent under a content type that does not fit."
    seen = "A good body whose header says that it is something else."
    picture = "head text/plain │ content … │ terminal │ end"

    content_type: str = setting("text/plain", "What the header says.", choices=TYPES)

    async def play(self, answer: Answer) -> None:
        await answer.begin(content_type=self.content_type)
        answer.mark(f"labelled {self.content_type}")
        await answer.rest()

    def error_class(self) -> str:
        return ""


FAULT = WrongContentType
