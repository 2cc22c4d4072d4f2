"""How a model call can fail, in the words that the log uses."""

from __future__ import annotations

PERMANENT = frozenset({400, 401, 402, 403, 404, 405, 410, 413, 415, 422})
"""HTTP statuses that no repetition mends."""

BY_STATUS = {
    400: "bad_request",
    401: "auth",
    403: "auth",
    408: "timeout",
    429: "rate_limit",
    503: "overloaded",
    529: "overloaded",
}


class CallFailed(Exception):
    """A model call that gave no whole answer.

    `error_class`: rate_limit, auth, bad_request, overloaded, server, stream,
    timeout, refused, limit or other. `retry_after`: seconds that the provider asked for.
    """

    def __init__(
        self,
        error_class: str,
        detail: str,
        *,
        status: int | None = None,
        retryable: bool = True,
        retry_after: float | None = None,
        partial: str = "",
    ) -> None:
        super().__init__(detail)
        self.error_class = error_class
        self.detail = detail[:300]
        self.status = status
        self.retryable = retryable
        self.retry_after = retry_after
        self.partial = partial


def of_status(status: int, body: bytes, retry_after: float | None) -> CallFailed:
    """The failure that an HTTP status other than 200 means."""
    error_class = BY_STATUS.get(status, "server" if status >= 500 else "bad_request")
    text = body[:200].decode("utf-8", "replace")
    return CallFailed(
        error_class,
        f"HTTP {status}: {text}",
        status=status,
        retryable=status not in PERMANENT,
        retry_after=retry_after,
    )


def of_code(code: str, message: str) -> CallFailed:
    """The failure that an error inside an answer means, by its code."""
    word = code.lower()
    if "rate" in word or "quota" in word:
        error_class = "rate_limit"
    elif "overload" in word or "unavailable" in word:
        error_class = "overloaded"
    elif "invalid" in word or "not_found" in word or "policy" in word or "context" in word:
        return CallFailed("bad_request", f"{code}: {message}", retryable=False)
    else:
        error_class = "server"
    return CallFailed(error_class, f"{code}: {message}")
