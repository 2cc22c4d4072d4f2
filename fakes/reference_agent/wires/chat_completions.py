"""The OpenAI Chat Completions dialect, client side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from fakes.reference_agent.trouble import CallFailed, of_code
from fakes.reference_agent.wires.wire import Building, Item, Wire, parse_object


class ChatCompletions(Wire):
    """``POST /v1/chat/completions``."""

    __slots__ = ()
    path: ClassVar[str] = "/v1/chat/completions"

    @classmethod
    def body(
        cls, items: Sequence[Item], tools: Sequence[Mapping[str, Any]], model: str, stream: bool
    ) -> dict[str, Any]:
        """Items become ``messages``."""
        return {
            "model": model,
            "messages": [_message(item) for item in items],
            "tools": [{"type": "function", "function": dict(tool)} for tool in tools],
            "stream": stream,
        }

    def take(self, name: str, data: str) -> int:
        """Chunks, then ``[DONE]``; without it the answer has no end."""
        if data.strip() == "[DONE]":
            self.done = bool(self.finish)
            return 0
        chunk = parse_object(data, "chunk")
        if chunk.get("error"):
            raise _failed(chunk["error"])
        came = 0
        for choice in chunk.get("choices") or ():
            delta = choice.get("delta") or {}
            piece = str(delta.get("content") or "")
            self.text += piece
            came += len(piece)
            for part in delta.get("tool_calls") or ():
                came += self._tool(part)
            self._finished(choice.get("finish_reason"))
        return came

    def take_whole(self, document: Mapping[str, Any]) -> None:
        """A whole completion."""
        if document.get("error"):
            raise _failed(document["error"])
        choices = document.get("choices") or ()
        if not choices:
            raise CallFailed("stream", "an answer without choices")
        message = choices[0].get("message") or {}
        self.text = str(message.get("content") or "")
        for part in message.get("tool_calls") or ():
            self._tool({"index": len(self.building), **part})
        self._finished(choices[0].get("finish_reason"))
        self.done = bool(self.finish)

    def _tool(self, part: Mapping[str, Any]) -> int:
        key = str(part.get("index", 0))
        function = part.get("function") or {}
        if key not in self.building:
            self.building[key] = Building(str(part.get("id")), str(function.get("name", "")))
        piece = str(function.get("arguments") or "")
        self.building[key].arguments += piece
        return len(piece)

    def _finished(self, reason: Any) -> None:
        if reason == "length":
            raise CallFailed("limit", "cut by its length", retryable=False, partial=self.text)
        if reason == "content_filter":
            raise CallFailed("bad_request", "stopped by a filter", retryable=False)
        self.finish = str(reason or self.finish)


def _message(item: Item) -> dict[str, Any]:
    if item.role == "tool":
        return {"role": "tool", "tool_call_id": item.call_id, "content": item.text}
    made: dict[str, Any] = {"role": item.role, "content": item.text}
    if item.calls:
        made["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(dict(call.arguments))},
            }
            for call in item.calls
        ]
    return made


def _failed(error: Any) -> CallFailed:
    error = error if isinstance(error, Mapping) else {}
    code = error.get("code") or error.get("type") or "server_error"
    return of_code(str(code), str(error.get("message", "")))
