"""Anthropic Messages: ``POST /v1/messages``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from fakes.dialect import (
    BadRequest,
    Dialect,
    Frame,
    ModelRequest,
    Part,
    Problem,
    Reply,
    Role,
    ToolCall,
    Turn,
    pieces,
    tokens,
)
from fakes.dialects import _openai as texts

TYPES = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    408: "timeout_error",
    413: "request_too_large",
    429: "rate_limit_error",
    503: "overloaded_error",
    504: "timeout_error",
    529: "overloaded_error",
}
PARTS: dict[str, Part] = {
    "content_block_stop": "done",
    "message_delta": "done",
    "message_stop": "terminal",
}


class Messages(Dialect):
    """The Messages dialect."""

    name = "messages"
    title = "Anthropic Messages"
    ending = "/messages"
    call_prefix = "toolu_"

    def read(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> ModelRequest:
        messages = body.get("messages")
        if not isinstance(messages, list):
            raise BadRequest("messages must be a list.")
        turns = [Turn("system", words)] if (words := texts.text(body.get("system"))) else []
        for message in messages:
            if isinstance(message, dict):
                turns += _turns(message)
        tools = body.get("tools")
        return ModelRequest(
            dialect=self.name,
            model=str(body.get("model", "")),
            stream=body.get("stream") is True,
            turns=tuple(turns),
            tools=tuple(
                texts.tool_name(tool)
                for tool in (tools if isinstance(tools, list) else [])
                if isinstance(tool, dict)
            ),
            path=path,
            headers=headers,
            body=body,
        )

    def frames(self, request: ModelRequest, reply: Reply, answer_id: str) -> Sequence[Frame]:
        opened = self.whole(request, reply, answer_id)
        usage = {**opened["usage"], "output_tokens": 1}
        opened |= {"content": [], "stop_reason": None, "usage": usage}
        frames = [_frame({"type": "message_start", "message": opened}), _frame({"type": "ping"})]
        for index, block in enumerate(_blocks(reply)):
            frames += _block_frames(block, index)
        delta = {"stop_reason": _stop_reason(reply), "stop_sequence": None}
        said = {"output_tokens": _said(reply)}
        frames.append(_frame({"type": "message_delta", "delta": delta, "usage": said}))
        return [*frames, _frame({"type": "message_stop"})]

    def whole(self, request: ModelRequest, reply: Reply, answer_id: str) -> dict[str, Any]:
        return {
            "id": f"msg_{answer_id}",
            "type": "message",
            "role": "assistant",
            "model": request.model,
            "content": [
                {key: value for key, value in block.items() if key != "json"}
                for block in _blocks(reply)
            ],
            "stop_reason": _stop_reason(reply),
            "stop_sequence": None,
            "usage": {
                "input_tokens": sum(len(turn.text) for turn in request.turns) // 4 + 1,
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": _said(reply),
            },
        }

    def error(self, problem: Problem, request_id: str) -> dict[str, Any]:
        return {"type": "error", "error": _error(problem), "request_id": request_id}

    def error_frame(self, problem: Problem, sequence: int) -> Frame:
        return Frame({"type": "error", "error": _error(problem)}, "terminal", "error")

    def models(self, model: str) -> dict[str, Any]:
        one = {
            "type": "model",
            "id": model,
            "display_name": model,
            "created_at": "2025-01-01T00:00:00Z",
        }
        return {"data": [one], "has_more": False, "first_id": model, "last_id": model}

    def headers(self, request_id: str) -> dict[str, str]:
        return {
            "request-id": request_id,
            "anthropic-organization-id": "org_lifeline",
            "anthropic-ratelimit-requests-limit": "500",
            "anthropic-ratelimit-requests-remaining": "499",
        }

    def limited(self, retry_after: str) -> dict[str, str]:
        return {"anthropic-ratelimit-requests-remaining": "0"}


def _error(problem: Problem) -> dict[str, Any]:
    kind = TYPES.get(problem.status, "api_error")
    return {"type": kind, "message": problem.message}


def _stop_reason(reply: Reply) -> str:
    if reply.stop == "length":
        return "max_tokens"
    return "tool_use" if reply.tool_calls else "end_turn"


def _said(reply: Reply) -> int:
    return (len(reply.text) + sum(len(call.text) for call in reply.tool_calls)) // 4 + 1


def _blocks(reply: Reply) -> Iterator[dict[str, Any]]:
    """The blocks of an answer; ``json`` is how a call's input is streamed."""
    if reply.text or reply.final:
        yield {"type": "text", "text": reply.text}
    for call in reply.tool_calls:
        yield {
            "type": "tool_use",
            "id": call.id,
            "name": call.name,
            "input": call.arguments,
            "json": call.text,
        }


def _frame(event: dict[str, Any], part: Part | None = None) -> Frame:
    kind = str(event["type"])
    return Frame(event, part or PARTS.get(kind, "start"), kind)


def _block_frames(block: dict[str, Any], index: int) -> Iterator[Frame]:
    place = {"type": "content_block_delta", "index": index}
    if block["type"] == "text":
        opened: dict[str, Any] = {"type": "text", "text": ""}
        deltas = [{"type": "text_delta", "text": token} for token in tokens(block["text"])]
        part: Part = "content"
    else:
        opened = {"type": "tool_use", "id": block["id"], "name": block["name"], "input": {}}
        deltas = [
            {"type": "input_json_delta", "partial_json": piece} for piece in pieces(block["json"])
        ]
        part = "arguments"
    yield _frame({"type": "content_block_start", "index": index, "content_block": opened})
    for delta in deltas:
        yield _frame({**place, "delta": delta}, part)
    yield _frame({"type": "content_block_stop", "index": index})


def _turns(message: dict[str, Any]) -> Iterator[Turn]:
    """A message as turns: tool results first, as they answer what went before."""
    content = message.get("content")
    blocks = [b for b in content if isinstance(b, dict)] if isinstance(content, list) else []
    for block in blocks:
        if block.get("type") == "tool_result":
            words = texts.text(block.get("content"))
            yield Turn("tool", words, call_id=str(block.get("tool_use_id", "")))
    calls = tuple(
        ToolCall(
            str(block.get("name")),
            texts.arguments(block.get("input")),
            id=str(block.get("id", "")),
        )
        for block in blocks
        if block.get("type") == "tool_use"
    )
    said = texts.text([b for b in blocks if b.get("type") == "text"] if blocks else content)
    role: Role = message["role"] if message.get("role") in ("assistant", "system") else "user"
    if said or calls:
        yield Turn(role, said, calls)


DIALECT = Messages()
