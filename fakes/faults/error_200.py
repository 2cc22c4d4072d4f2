"""An error body with status 200, as some gateways send it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from fakes.dialect import dumps
from fakes.fault import Fault, class_of_status, problem_of_code
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class Error200(Fault):
    """The provider's error document under a good status."""

    name = "error-200"
    title = "Error body with 200"
    sentence = "Status 200 with an error document of the provider as JSON."
    seen = "A successful answer of type application/json that holds an error."
    picture = 'head 200 │ {"error": …} │ end'

    code: str = setting("server_error", "The error's code.")

    async def play(self, answer: Answer) -> None:
        document = answer.dialect.error(problem_of_code(self.code), f"req_{answer.exchange.id}")
        await answer.document(200, "application/json", dumps(document).encode())
        answer.mark("an error document with status 200")

    def error_class(self) -> str:
        return class_of_status(problem_of_code(self.code).status)


FAULT = Error200
