"""What the provider answers beside model calls: lists, counts, refusals. Not journaled."""

from __future__ import annotations

from typing import Any

from fakes.dialect import Problem, dialects, dumps
from fakes.wire import ClientGone, Connection, RawRequest


def aside(raw: RawRequest, path: str, model: str) -> tuple[int, dict[str, Any]]:
    """Status and document for what is no model call: GET gives the model list."""
    own = dialects()[_spoken(raw, path)]
    if raw.method in ("GET", "HEAD"):
        return 200, own.models(model)
    if path.endswith("/count_tokens"):
        return 200, {"input_tokens": max(1, len(raw.body) // 4)}
    if path.endswith(":countTokens"):
        return 200, {"totalTokens": max(1, len(raw.body) // 4)}
    return 404, own.error(Problem(404, "not_found", "There is nothing at this address."), "req_0")


def _spoken(raw: RawRequest, path: str) -> str:
    """The dialect of a client that asks for no answer of a model."""
    if "x-goog-api-key" in raw.headers or path.startswith("/v1beta/"):
        return "generate_content"
    return "messages" if "anthropic-version" in raw.headers else "chat_completions"


async def turn_away(connection: Connection, status: int, message: str) -> None:
    """Answers what could not be read as a request; the connection ends with it."""
    problem = Problem(status, "request_too_large" if status == 413 else "bad_request", message)
    document = dialects()["responses"].error(problem, "req_0")
    try:
        await connection.write(plain(status, document, keep_alive=False))
        await connection.drain()
    except ClientGone:
        pass


def plain(status: int, document: dict[str, Any], keep_alive: bool, head: bool = False) -> bytes:
    """A small whole answer; of a `head` request without its body."""
    data = dumps(document).encode("utf-8", "replace")
    top = (
        f"HTTP/1.1 {status} {'OK' if status == 200 else 'Error'}\r\n"
        f"content-type: application/json\r\ncontent-length: {len(data)}\r\n"
        f"connection: {'keep-alive' if keep_alive else 'close'}\r\n\r\n"
    )
    return top.encode() + (b"" if head else data)
