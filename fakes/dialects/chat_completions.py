"""OpenAI Chat Completions: ``POST /v1/chat/completions``."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
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
    pieces,
    tokens,
)
from fakes.dialects import _openai as openai


class ChatCompletions(Dialect):
    """The Chat Completions dialect. The chunk with a finish reason ends an answer."""

    name = "chat_completions"
    title = "OpenAI Chat Completions"
    ending = "/chat/completions"

    def read(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> ModelRequest:
        messages = body.get("messages")
        if not isinstance(messages, list):
            raise BadRequest("messages must be a list.")
        tools = body.get("tools")
        return ModelRequest(
            dialect=self.name,
            model=str(body.get("model", "")),
            stream=body.get("stream") is True,
            turns=tuple(_turn(each) for each in messages if isinstance(each, dict)),
            tools=tuple(
                openai.tool_name(tool)
                for tool in (tools if isinstance(tools, list) else [])
                if isinstance(tool, dict)
            ),
            path=path,
            headers=headers,
            body=body,
        )

    def frames(self, request: ModelRequest, reply: Reply, answer_id: str) -> Sequence[Frame]:
        def chunk(part: Part, delta: dict[str, Any], finish: str | None = None) -> Frame:
            choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
            return Frame({**_head(request, answer_id, "chunk"), "choices": [choice]}, part)

        frames = [chunk("start", {"role": "assistant", "content": "", "refusal": None})]
        frames += [chunk("content", {"content": token}) for token in tokens(reply.text)]
        for index, call in enumerate(reply.tool_calls):
            opened = _call(call, "") | {"index": index}
            frames.append(chunk("start", {"tool_calls": [opened]}))
            for piece in pieces(call.text):
                part = {"index": index, "function": {"arguments": piece}}
                frames.append(chunk("arguments", {"tool_calls": [part]}))
        frames.append(chunk("terminal", {}, _finish(reply)))
        if _wants_usage(request):
            used = {**_head(request, answer_id, "chunk"), "choices": []}
            frames.append(Frame({**used, "usage": _usage(request, reply)}, "trailer"))
        return [*frames, Frame("[DONE]", "trailer")]

    def whole(self, request: ModelRequest, reply: Reply, answer_id: str) -> dict[str, Any]:
        message: dict[str, Any] = {
            "role": "assistant",
            "content": reply.text if reply.text or reply.final else None,
            "refusal": None,
        }
        if reply.tool_calls:
            message["tool_calls"] = [_call(call, call.text) for call in reply.tool_calls]
        choice = {"index": 0, "message": message, "logprobs": None}
        choice["finish_reason"] = _finish(reply)
        return {
            **_head(request, answer_id, ""),
            "choices": [choice],
            "usage": _usage(request, reply),
        }

    def error(self, problem: Problem, request_id: str) -> dict[str, Any]:
        return openai.error(problem)

    def error_frame(self, problem: Problem, sequence: int) -> Frame:
        return Frame(openai.error(problem), "terminal")

    def models(self, model: str) -> dict[str, Any]:
        return openai.models(model)

    def headers(self, request_id: str) -> dict[str, str]:
        return openai.headers(request_id)

    def limited(self, retry_after: str) -> dict[str, str]:
        return openai.limited(retry_after)


def _head(request: ModelRequest, answer_id: str, form: str) -> dict[str, Any]:
    return {
        "id": f"chatcmpl-{answer_id}",
        "object": f"chat.completion.{form}".rstrip("."),
        "created": int(time.time()),
        "model": request.model,
        "service_tier": "default",
        "system_fingerprint": "fp_lifeline",
    }


def _call(call: ToolCall, arguments: str) -> dict[str, Any]:
    function = {"name": call.name, "arguments": arguments}
    return {"id": call.id, "type": "function", "function": function}


def _finish(reply: Reply) -> str:
    if reply.stop == "length":
        return "length"
    return "tool_calls" if reply.tool_calls else "stop"


def _wants_usage(request: ModelRequest) -> bool:
    options = request.body.get("stream_options")
    return isinstance(options, dict) and options.get("include_usage") is True


def _usage(request: ModelRequest, reply: Reply) -> dict[str, Any]:
    used = sum(len(turn.text) for turn in request.turns) // 4 + 1
    said = (len(reply.text) + sum(len(call.text) for call in reply.tool_calls)) // 4 + 1
    return {
        "prompt_tokens": used,
        "completion_tokens": said,
        "total_tokens": used + said,
        "prompt_tokens_details": {"cached_tokens": 0, "audio_tokens": 0},
        "completion_tokens_details": {"reasoning_tokens": 0, "audio_tokens": 0},
    }


def _turn(message: dict[str, Any]) -> Turn:
    role = message.get("role")
    called = message.get("tool_calls")
    calls = []
    for call in called if isinstance(called, list) else []:
        function = call.get("function") if isinstance(call, dict) else None
        if isinstance(function, dict):
            given = openai.arguments(function.get("arguments"))
            calls.append(ToolCall(str(function.get("name")), given, id=str(call.get("id", ""))))
    return Turn(
        role if role in openai.ROLES else "user",
        openai.text(message.get("content")),
        tuple(calls),
        str(message.get("tool_call_id", "")),
    )


DIALECT = ChatCompletions()
