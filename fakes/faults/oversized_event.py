"""One event is very large."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class OversizedEvent(Fault):
    """A word of a million letters."""

    name = "oversized-event"
    title = "Oversized event"
    sentence = "One piece of content is very large; the answer is otherwise whole."
    seen = "A good answer in which one line is longer than many buffers."
    picture = "head │ content … CONTENT │ terminal │ end"

    kib: int = setting(1024, "Size of the large piece.", unit="KiB", low=1, high=65_536)

    async def play(self, answer: Answer) -> None:
        text = f"{answer.reply.text} {'x' * (self.kib * 1024)}"
        answer.pieces = answer.rendered(replace(answer.reply, text=text))
        await answer.whole()
        answer.mark(f"a piece of {self.kib} KiB was sent")

    def error_class(self) -> str:
        return ""


FAULT = OversizedEvent
