"""The answer ends after so many bytes or events."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class CutAfter(Fault):
    """Exactly n bytes or events of the body, then an end of the chosen kind."""

    name = "cut-after"
    title = "Cut after n"
    sentence = "Exactly n bytes or events of the body are sent, then the answer breaks off."
    seen = "A body of exactly that size; its end as chosen (clean, FIN or RST)."
    picture = "head │ 1 2 3 … n │ FIN"

    count: int = setting(5, "After how many.", low=0, high=100_000_000)
    unit: Literal["events", "bytes"] = setting(
        "events", "What is counted.", choices=("events", "bytes")
    )
    by: Literal["end", "fin", "rst"] = setting(
        "fin", "How it breaks off: a proper end, FIN or RST.", choices=("end", "fin", "rst")
    )

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        if self.unit == "events":
            await answer.send(answer.pieces[: self.count])
            short = self.count < len(answer.pieces)
        else:
            short = await self._bytes(answer)
        if not short:
            # The answer was shorter than that: nothing was cut, and the journal must not say so.
            await answer.end()
            return
        answer.mark(f"cut after {self.count} {self.unit}")
        await {"end": answer.end, "fin": answer.cut, "rst": answer.reset}[self.by]()

    async def _bytes(self, answer: Answer) -> bool:
        left = self.count
        for piece in answer.pieces:
            if len(piece.data) > left:
                await answer.write(piece.data[:left])
                return True
            await answer.send([piece])
            left -= len(piece.data)
        return False

    def why_not(self, dialect: str, stream: bool) -> str:
        if not stream and self.unit == "events":
            return "a plain answer has no events; count bytes"
        return super().why_not(dialect, stream)


FAULT = CutAfter
