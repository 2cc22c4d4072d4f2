"""OpenAI Responses: ``POST /v1/responses``.

Sequence numbers start at 0 in each response, as in the real API.
"""

from __future__ import annotations

import time
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
    ToolCall,
    Turn,
    dumps,
    pieces,
    tokens,
)
from fakes.dialects import _openai as openai

PARTS: dict[str, Part] = {
    "response.output_text.delta": "content",
    "response.function_call_arguments.delta": "arguments",
    "response.output_text.done": "done",
    "response.content_part.done": "done",
    "response.function_call_arguments.done": "done",
    "response.output_item.done": "done",
    "response.completed": "terminal",
    "response.failed": "terminal",
    "response.incomplete": "terminal",
}
"""By event; what is not here opens something."""


class Responses(Dialect):
    """The Responses dialect."""

    name = "responses"
    title = "OpenAI Responses"
    ending = "/responses"

    def read(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> ModelRequest:
        given = body.get("input", "")
        if not isinstance(given, (str, list)):
            raise BadRequest("input must be a text or a list.")
        turns: list[Turn] = []
        if isinstance(body.get("instructions"), str):
            turns.append(Turn("system", body["instructions"]))
        if isinstance(given, str):
            turns.append(Turn("user", given))
        else:
            turns += [turn for item in given if (turn := _turn(item)) is not None]
        return ModelRequest(
            dialect=self.name,
            model=str(body.get("model", "")),
            stream=body.get("stream") is True,
            turns=tuple(turns),
            tools=tuple(_tools(body.get("tools"))),
            path=path,
            headers=headers,
            body=body,
        )

    def frames(self, request: ModelRequest, reply: Reply, answer_id: str) -> Sequence[Frame]:
        began = _response(request, answer_id, "in_progress", [])
        events = [
            {"type": "response.created", "response": began},
            {"type": "response.in_progress", "response": began},
        ]
        output = _output(reply, answer_id)
        for index, item in enumerate(output):
            events += _item_events(item, index)
        ended = self.whole(request, reply, answer_id)
        events.append({"type": f"response.{ended['status']}", "response": ended})
        return [_frame(event, number) for number, event in enumerate(events)]

    def whole(self, request: ModelRequest, reply: Reply, answer_id: str) -> dict[str, Any]:
        output = _output(reply, answer_id)
        if isinstance(reply.stop, Problem):
            error = {"code": reply.stop.code, "message": reply.stop.message}
            return {**_response(request, answer_id, "failed", output), "error": error}
        if reply.stop == "length":
            reason = {"reason": "max_output_tokens"}
            ended = _response(request, answer_id, "incomplete", output)
            return {**ended, "incomplete_details": reason}
        return _response(request, answer_id, "completed", output)

    def error(self, problem: Problem, request_id: str) -> dict[str, Any]:
        return openai.error(problem)

    def error_frame(self, problem: Problem, sequence: int) -> Frame:
        event = {
            "type": "error",
            "code": problem.code,
            "message": problem.message,
            "param": None,
        }
        return _frame(event, sequence)

    def models(self, model: str) -> dict[str, Any]:
        return openai.models(model)

    def headers(self, request_id: str) -> dict[str, str]:
        return openai.headers(request_id)

    def limited(self, retry_after: str) -> dict[str, str]:
        return openai.limited(retry_after)


def _frame(event: dict[str, Any], number: int) -> Frame:
    kind = str(event["type"])
    return Frame({**event, "sequence_number": number}, PARTS.get(kind, "start"), kind)


def _output(reply: Reply, answer_id: str) -> list[dict[str, Any]]:
    """The items of an answer: its message, if any, then its calls."""
    items: list[dict[str, Any]] = []
    if reply.text or not reply.tool_calls:
        part = {"type": "output_text", "text": reply.text, "annotations": [], "logprobs": []}
        items.append(
            {
                "id": f"msg_{answer_id}",
                "type": "message",
                "status": "completed",
                "role": "assistant",
                "content": [part],
            }
        )
    for number, call in enumerate(reply.tool_calls):
        item = {
            "id": f"fc_{answer_id}_{number}",
            "type": "function_call",
            "status": "completed",
            "call_id": call.id,
            "name": call.name,
            "arguments": call.text,
        }
        items.append(item | ({"namespace": call.namespace} if call.namespace else {}))
    return items


def _item_events(item: dict[str, Any], index: int) -> Iterator[dict[str, Any]]:
    place = {"item_id": item["id"], "output_index": index}
    if item["type"] == "message":
        opened = {**item, "status": "in_progress", "content": []}
        yield {"type": "response.output_item.added", "output_index": index, "item": opened}
        yield from _text_events(item["content"][0], {**place, "content_index": 0})
    else:
        opened = {**item, "status": "in_progress", "arguments": ""}
        yield {"type": "response.output_item.added", "output_index": index, "item": opened}
        kind = "response.function_call_arguments"
        for delta in pieces(item["arguments"]):
            yield {"type": f"{kind}.delta", **place, "delta": delta}
        named = {"name": item["name"], "arguments": item["arguments"]}
        yield {"type": f"{kind}.done", **place, **named}
    yield {"type": "response.output_item.done", "output_index": index, "item": item}


def _text_events(part: dict[str, Any], place: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield {"type": "response.content_part.added", **place, "part": {**part, "text": ""}}
    for delta in tokens(part["text"]):
        yield {"type": "response.output_text.delta", **place, "delta": delta, "logprobs": []}
    yield {"type": "response.output_text.done", **place, "text": part["text"], "logprobs": []}
    yield {"type": "response.content_part.done", **place, "part": part}


def _response(
    request: ModelRequest, answer_id: str, status: str, output: list[dict[str, Any]]
) -> dict[str, Any]:
    used = sum(len(turn.text) for turn in request.turns) // 4 + 1
    said = sum(len(dumps(item)) for item in output) // 4
    usage = {
        "input_tokens": used,
        "input_tokens_details": {"cached_tokens": 0, "cache_write_tokens": 0},
        "output_tokens": said,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": used + said,
    }
    return {
        "id": f"resp_{answer_id}",
        "object": "response",
        "created_at": int(time.time()),
        "status": status,
        "error": None,
        "incomplete_details": None,
        "instructions": None,
        "metadata": {},
        "model": request.model,
        "output": output,
        "parallel_tool_calls": True,
        "temperature": 1.0,
        "tool_choice": "auto",
        "tools": [],
        "top_p": 1.0,
        "usage": None if status == "in_progress" else usage,
    }


def _turn(item: Any) -> Turn | None:
    """One item of the input; None for what carries no words (reasoning)."""
    if not isinstance(item, dict):
        return None
    kind = str(item.get("type", "message"))
    if kind.endswith("_output"):
        return Turn("tool", openai.text(item.get("output")), call_id=str(item.get("call_id", "")))
    if kind.endswith("_call"):
        call = ToolCall(
            name=str(item.get("name", kind)),
            arguments=openai.arguments(item.get("arguments", item.get("input"))),
            namespace=str(item.get("namespace") or ""),
            id=str(item.get("call_id") or item.get("id") or ""),
        )
        return Turn("assistant", "", (call,))
    if kind == "reasoning":
        return None
    role = item.get("role")
    words = openai.text(item.get("content"))
    return Turn(role if role in openai.ROLES else "user", words)


def _tools(given: Any) -> Iterator[str]:
    """Names of the tools; those of a namespace without its name."""
    for tool in given if isinstance(given, list) else []:
        if not isinstance(tool, dict):
            continue
        if isinstance(tool.get("tools"), list):
            yield from _tools(tool["tools"])
        else:
            yield openai.tool_name(tool)


DIALECT = Responses()
