"""Content-Length and body do not agree."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class ShortContentLength(Fault):
    """A length that is too short for the body, or a body too short for the length."""

    name = "short-content-length"
    title = "Wrong Content-Length"
    sentence = "Content-Length announces fewer bytes than the answer has, or more than come."
    seen = (
        "An answer cut off at the announced length, or a body that ends too soon (curl: exit 18)."
    )
    picture = "head length 500 │ content of 900 │ FIN"

    short: Literal["header", "body"] = setting(
        "header",
        "header: the length is too small, the client cuts the answer. body: half of the "
        "announced bytes come.",
        choices=("header", "body"),
    )

    async def play(self, answer: Answer) -> None:
        body = b"".join(piece.data for piece in answer.pieces)
        half = len(body) // 2
        await answer.begin(length=half if self.short == "header" else len(body))
        await answer.write(body if self.short == "header" else body[:half])
        answer.mark(f"the {self.short} is short by {len(body) - half} bytes")
        await answer.cut()


FAULT = ShortContentLength
