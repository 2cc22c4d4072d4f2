"""One event, or the body, is no JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.fault import Fault
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer

BROKEN = b'{"type": "lifeline", "broken": [1, 2'


@dataclass(frozen=True)
class MalformedJson(Fault):
    """JSON that breaks off, in a whole answer."""

    name = "malformed-json"
    title = "Malformed JSON"
    sentence = "One event in the middle holds JSON that breaks off; all others are good."
    seen = "An event whose data cannot be parsed; in the plain form a body that cannot."
    picture = 'head │ content … {"broken … content │ terminal │ end'

    named: bool = setting(True, "Whether the broken event has the event name of a good one.")

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        before = answer.upto("half")
        victim = before.pop()
        await answer.send(before)
        if answer.streaming:
            name = victim.frame.event if victim.frame and self.named else ""
            line = f"event: {name}\n".encode() if name else b""
            await answer.write(line + b"data: " + BROKEN + b"\n\n", events=1)
        else:
            await answer.write(BROKEN)
        answer.mark("malformed JSON was sent")
        await answer.send(piece for piece in answer.unsent() if piece is not victim)
        await answer.end()


FAULT = MalformedJson
