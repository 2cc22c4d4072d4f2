"""The model stopped at its limit."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fakes.fault import Fault

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class ResponseIncomplete(Fault):
    """``response.incomplete``, finish reason ``length`` or stop reason ``max_tokens``."""

    name = "response-incomplete"
    title = "Incomplete answer"
    sentence = "The answer ends properly, saying that the model stopped at its output limit."
    seen = "A well-formed answer with half of the text, marked as incomplete."
    picture = "head │ content … │ incomplete │ end"

    async def play(self, answer: Answer) -> None:
        words = answer.reply.text.split(" ")
        half = " ".join(words[: (len(words) + 1) // 2])
        await answer.begin()
        await answer.send(answer.rendered(replace(answer.reply, text=half, stop="length")))
        answer.mark("ended as incomplete")
        await answer.end()

    def error_class(self) -> str:
        return "limit"


FAULT = ResponseIncomplete
