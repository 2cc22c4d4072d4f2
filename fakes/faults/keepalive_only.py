"""Signs of life, and no content."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class KeepaliveOnly(Fault):
    """Comments in a stream, blank lines before a plain body."""

    name = "keepalive-only"
    title = "Keep-alives without content"
    sentence = "The answer opens, then only keep-alives come, for a time or for ever."
    seen = "Bytes at regular times that hold no event (SSE comments; blank lines before JSON)."
    picture = "head │ : keep-alive … : keep-alive …"

    every: float = setting(1.0, "Time between two of them.", unit="s", low=0.05, high=600)
    seconds: float = setting(
        0.0, "How long; then the good answer follows. 0: for ever.", unit="s", low=0, high=3600
    )

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        answer.mark("only keep-alives from here")
        sign = b": keep-alive\n\n" if answer.streaming else b"\n"
        left = math.ceil(self.seconds / self.every) if self.seconds else -1
        while left:
            await answer.write(sign)
            await answer.pause(self.every)
            left -= 1
        await answer.rest()

    def error_class(self) -> str:
        return "" if self.seconds else "timeout"


FAULT = KeepaliveOnly
