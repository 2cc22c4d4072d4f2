"""The connection breaks before anything was answered."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class ResetBeforeHeaders(Fault):
    """RST or FIN instead of an answer."""

    name = "reset-before-headers"
    title = "Reset before the headers"
    sentence = "The request is taken, and the connection breaks before one byte of an answer."
    seen = "Connection reset by peer (RST), or an empty reply (FIN; curl: exit 52)."
    picture = "request │ RST"

    by: Literal["rst", "fin"] = setting("rst", "How it breaks.", choices=("rst", "fin"))

    async def play(self, answer: Answer) -> None:
        await answer.pause(answer.reply.first)
        answer.mark(f"{self.by.upper()} before the headers")
        await (answer.reset() if self.by == "rst" else answer.cut())

    def answers(self) -> int:
        return 0


FAULT = ResetBeforeHeaders
