"""The response says of itself that it failed."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fakes.fault import Fault, class_of_status, problem_of_code
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer

NO_SUCH_END = "this dialect has no answer that says it failed; sse-error is its way"


@dataclass(frozen=True)
class ResponseFailed(Fault):
    """``response.failed`` instead of ``response.completed``."""

    name = "response-failed"
    title = "response.failed"
    sentence = "The answer ends with response.failed and an error code."
    seen = "Status 200 and a response whose status is failed."
    picture = "head │ content … │ response.failed │ end"
    meaningless = {
        "chat_completions": NO_SUCH_END,
        "messages": NO_SUCH_END,
        "generate_content": NO_SUCH_END,
    }

    code: str = setting("server_error", "The error's code.")

    async def play(self, answer: Answer) -> None:
        problem = problem_of_code(self.code)
        broken = replace(answer.reply, text=_half(answer.reply.text), stop=problem)
        await answer.begin()
        await answer.send(answer.rendered(broken))
        answer.mark(f"response.failed {self.code}")
        await answer.end()

    def error_class(self) -> str:
        return class_of_status(problem_of_code(self.code).status)


def _half(text: str) -> str:
    words = text.split(" ")
    return " ".join(words[: (len(words) + 1) // 2])


FAULT = ResponseFailed
