"""The answer is complete, and then the connection breaks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class CutAfterTerminal(Fault):
    """All content and the terminal event, but no proper end of the body."""

    name = "cut-after-terminal"
    title = "Cut after the terminal event"
    sentence = "The whole answer is sent; then the connection breaks before the body's end."
    seen = "A complete answer on a broken transfer; a client may use it or try again."
    picture = "head │ content … │ terminal │ FIN"

    by: Literal["fin", "rst"] = setting("fin", "How it breaks.", choices=("fin", "rst"))

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        await answer.send(answer.pieces)
        answer.mark(f"{self.by.upper()} after the terminal event")
        await (answer.cut() if self.by == "fin" else answer.reset())

    def error_class(self) -> str:
        # With FIN every byte of the answer arrives; with RST some may be thrown away.
        return "" if self.by == "fin" else "stream"


FAULT = CutAfterTerminal
