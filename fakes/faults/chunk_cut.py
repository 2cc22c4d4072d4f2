"""The connection is closed inside the chunked body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.answer import UPTO
from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer, Upto


@dataclass(frozen=True)
class ChunkCut(Fault):
    """A close (FIN) without the last chunk."""

    name = "chunk-cut"
    title = "Closed inside the body"
    sentence = "After a valid prefix the connection is closed; the chunked body has no end."
    seen = "A transfer that is shorter than its framing promised (curl: exit 18)."
    picture = "head │ content … content │ FIN"

    after: Upto = setting("half", "How much of the answer is sent.", choices=UPTO)

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        await answer.send(answer.upto(self.after))
        answer.mark("closed inside the body")
        await answer.cut()


FAULT = ChunkCut
