"""Everything but the terminal event."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.fault import Fault

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class NoTerminal(Fault):
    """A stream that never says it is complete, though all content was sent."""

    name = "no-terminal"
    title = "No terminal event"
    sentence = (
        "All content is sent and closed, the body ends properly, but no event ends the answer."
    )
    seen = "A whole text without response.completed, finish reason or message_stop."
    picture = "head │ content … content │ done │ end"
    meaningless = {"plain": "a plain answer has no terminal event"}

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        await answer.send(answer.upto("all"))
        answer.mark("the terminal event was left out")
        await answer.end()


FAULT = NoTerminal
