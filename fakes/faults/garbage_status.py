"""What comes back is no HTTP."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.fault import Fault

if TYPE_CHECKING:
    from fakes.answer import Answer

GARBAGE = b"\x00LIFELINE \xff\xfe not a status line\r\n\r\n"


@dataclass(frozen=True)
class GarbageStatus(Fault):
    """Bytes that are no status line."""

    name = "garbage-status"
    title = "Garbage status line"
    sentence = "The answer begins with bytes that are no HTTP, and the connection is closed."
    seen = "A protocol error (curl: exit 1 or 8)."
    picture = "request │ \\x00LIFELINE … │ FIN"

    async def play(self, answer: Answer) -> None:
        await answer.pause(answer.reply.first)
        await answer.raw(GARBAGE)
        answer.mark("bytes that are no HTTP were sent")
        await answer.cut()

    def answers(self) -> int:
        return 0


FAULT = GarbageStatus
