"""An HTTP error in the provider's own shape."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from email.utils import formatdate
from typing import TYPE_CHECKING, Literal

from fakes.dialect import Problem
from fakes.fault import Fault, class_of_status
from fakes.settings import setting

if TYPE_CHECKING:
    from fakes.answer import Answer

CODES = {
    400: "invalid_request",
    401: "invalid_api_key",
    403: "permission_denied",
    404: "model_not_found",
    408: "request_timeout",
    413: "request_too_large",
    429: "rate_limit_exceeded",
    500: "server_error",
    502: "bad_gateway",
    503: "server_overloaded",
    529: "overloaded",
}


@dataclass(frozen=True)
class HttpStatus(Fault):
    """An error status, with or without Retry-After."""

    name = "http-status"
    title = "HTTP error"
    sentence = "The request is answered with an error status, whole and well-formed."
    seen = "The status with the provider's error body, request id and, if asked for, Retry-After."
    picture = "head 503 │ error │ end"

    status: int = setting(500, "The status.", low=400, high=599)
    retry_after: float = setting(
        0.0, "Retry-After in the answer; 0: no such header.", unit="s", low=0, high=86_400
    )
    retry_after_form: Literal["seconds", "date"] = setting(
        "seconds", "How Retry-After is written.", choices=("seconds", "date")
    )
    code: str = setting("", "The error's code in the body; empty: the usual one of the status.")

    async def play(self, answer: Answer) -> None:
        code = self.code or CODES.get(self.status, "error")
        headers = self._retry_after()
        if self.retry_after:
            answer.retry_after = self.retry_after
        if self.status == 429:
            headers |= answer.dialect.limited(f"{self.retry_after:g}")
        await answer.error(Problem(self.status, code, f"Lifeline answers {self.status}."), headers)
        answer.mark(f"HTTP {self.status} {code}")

    def _retry_after(self) -> dict[str, str]:
        if not self.retry_after:
            return {}
        if self.retry_after_form == "date":
            # A date has whole seconds: never earlier than what was asked for.
            return {
                "retry-after": formatdate(math.ceil(time.time() + self.retry_after), usegmt=True)
            }
        return {"retry-after": f"{self.retry_after:g}"}

    def error_class(self) -> str:
        return class_of_status(self.status)

    def answers(self) -> int:
        return self.status


FAULT = HttpStatus
