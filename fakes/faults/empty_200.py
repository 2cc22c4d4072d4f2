"""Status 200 and nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class Empty200(Fault):
    """A good status with an empty body."""

    name = "empty-200"
    title = "Empty 200"
    sentence = "Status 200 with the right content type and an empty body."
    seen = "A successful answer of 0 bytes."
    picture = "head 200 │ end"

    chunked: bool = setting(False, "An empty chunked body instead of Content-Length 0.")

    async def play(self, answer: Answer) -> None:
        await answer.begin(length=None if self.chunked else 0)
        answer.mark("an empty body")
        await answer.end()


FAULT = Empty200
