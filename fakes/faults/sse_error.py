"""An error event inside the stream."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.answer import UPTO
from fakes.fault import Fault, class_of_status, problem_of_code
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer, Upto


@dataclass(frozen=True)
class SseError(Fault):
    """The provider's error event, and the end."""

    name = "sse-error"
    title = "Error event"
    sentence = "After a valid prefix an error event in the provider's shape comes, and the end."
    seen = "Status 200, part of an answer, then an event that says that it failed."
    picture = "head │ content … │ error │ end"
    meaningless = {"plain": "a plain answer has no events; an error there is an HTTP status"}

    after: Upto = setting("half", "How much of the answer is sent before.", choices=UPTO)
    code: str = setting("server_error", "The error's code.")

    async def play(self, answer: Answer) -> None:
        await answer.begin()
        await answer.send(answer.upto(self.after))
        problem = problem_of_code(self.code)
        await answer.frame(answer.dialect.error_frame(problem, answer.exchange.events))
        answer.mark(f"error event {self.code}")
        await answer.end()

    def error_class(self) -> str:
        return class_of_status(problem_of_code(self.code).status)


FAULT = SseError
