"""What both OpenAI dialects share: errors, headers, model list, reading of texts."""

from __future__ import annotations

import json
from typing import Any

from fakes.dialect import Problem

ROLES = ("system", "developer", "user", "assistant", "tool")
TYPES = {
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    429: "rate_limit_error",
}
LIMIT = "500"


def error(problem: Problem) -> dict[str, Any]:
    """The body of an HTTP error."""
    kind = TYPES.get(
        problem.status, "server_error" if problem.status >= 500 else "invalid_request_error"
    )
    told = {"message": problem.message, "type": kind, "param": None, "code": problem.code or None}
    return {"error": told}


def models(model: str) -> dict[str, Any]:
    """The list with one model. `data` is OpenAI's; some clients look for `models`."""
    one = {"id": model, "object": "model", "created": 1_700_000_000, "owned_by": "lifeline"}
    return {"object": "list", "data": [one]}


def headers(request_id: str) -> dict[str, str]:
    """Request id and rate limits."""
    return {
        "x-request-id": request_id,
        "openai-version": "2020-10-01",
        "openai-processing-ms": "1",
        "x-ratelimit-limit-requests": LIMIT,
        "x-ratelimit-remaining-requests": "499",
        "x-ratelimit-reset-requests": "120ms",
    }


def limited(retry_after: str) -> dict[str, str]:
    """The rate-limit headers of a 429."""
    reset = f"{retry_after}s" if retry_after.replace(".", "", 1).isdigit() else "1s"
    return {"x-ratelimit-remaining-requests": "0", "x-ratelimit-reset-requests": reset}


def text(content: Any) -> str:
    """The words of a content: a text, or a list of parts that hold one."""
    if isinstance(content, str):
        return content
    if not isinstance(content, list):
        return ""
    parts = [part if isinstance(part, str) else _part(part) for part in content]
    return "\n".join(part for part in parts if part)


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return ""
    words = part.get("text", part.get("content", part.get("refusal", "")))
    if not words and part.get("type") == "encrypted_content":
        words = part.get("encrypted_content", "")  # what a model would be shown in clear
    return words if isinstance(words, str) else text(words)


def arguments(given: Any) -> dict[str, Any]:
    """The arguments of a call; what is no JSON object is kept under ``text``."""
    if isinstance(given, dict):
        return given
    try:
        value = json.loads(given)
    except (TypeError, ValueError, RecursionError):
        return {"text": str(given)}
    return value if isinstance(value, dict) else {"text": str(given)}


def tool_name(tool: dict[str, Any]) -> str:
    """The name that a tool is advertised under; a built-in one has only its type."""
    inner = tool.get("function")
    named = inner if isinstance(inner, dict) else tool
    return str(named.get("name") or tool.get("type", ""))
