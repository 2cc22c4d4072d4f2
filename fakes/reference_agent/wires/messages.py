"""The Anthropic Messages dialect, client side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from fakes.reference_agent.trouble import CallFailed, of_code
from fakes.reference_agent.wires.wire import Building, Item, Wire, parse_object


class Messages(Wire):
    """``POST /v1/messages``."""

    __slots__ = ()
    path: ClassVar[str] = "/v1/messages"

    @classmethod
    def body(
        cls, items: Sequence[Item], tools: Sequence[Mapping[str, Any]], model: str, stream: bool
    ) -> dict[str, Any]:
        """Items become ``messages`` that take turns; tool outputs are user content there."""
        messages: list[dict[str, Any]] = []
        for item in items:
            if item.role == "system":
                continue
            role = "assistant" if item.role == "assistant" else "user"
            if not messages or messages[-1]["role"] != role:
                messages.append({"role": role, "content": []})
            messages[-1]["content"].extend(_blocks(item))
        return {
            "model": model,
            "max_tokens": 4096,
            "system": "\n".join(item.text for item in items if item.role == "system"),
            "messages": messages,
            "tools": [
                {
                    "name": tool["name"],
                    "description": tool["description"],
                    "input_schema": tool["parameters"],
                }
                for tool in tools
            ],
            "stream": stream,
        }

    def take(self, name: str, data: str) -> int:
        """Blocks open, grow and stop; ``message_stop`` is the end."""
        event = parse_object(data, "event")
        kind = event.get("type", name)
        key = str(event.get("index", 0))
        if kind == "error":
            raise _failed(event.get("error"))
        if kind == "content_block_start":
            block = event.get("content_block") or {}
            if block.get("type") == "tool_use":
                self.building[key] = Building(str(block.get("id")), str(block.get("name")))
        elif kind == "content_block_delta":
            return self._delta(key, event.get("delta") or {})
        elif kind == "message_delta":
            self._finished((event.get("delta") or {}).get("stop_reason"))
        elif kind == "message_stop":
            self.done = bool(self.finish)
        return 0

    def take_whole(self, document: Mapping[str, Any]) -> None:
        """A whole message."""
        if document.get("type") == "error":
            raise _failed(document.get("error"))
        if "content" not in document:
            raise CallFailed("stream", "an answer without content")
        for number, block in enumerate(document["content"]):
            if block.get("type") == "text":
                self.text += str(block.get("text", ""))
            elif block.get("type") == "tool_use":
                arguments = block.get("input")
                if not isinstance(arguments, Mapping):
                    raise CallFailed("stream", "tool arguments: not an object")
                built = Building(str(block.get("id")), str(block.get("name")))
                built.arguments = json.dumps(arguments)
                self.building[str(number)] = built
        self._finished(document.get("stop_reason"))
        self.done = bool(self.finish)

    def _delta(self, key: str, delta: Mapping[str, Any]) -> int:
        if delta.get("type") == "input_json_delta":
            piece = str(delta.get("partial_json", ""))
            if key in self.building:
                self.building[key].arguments += piece
            return len(piece)
        piece = str(delta.get("text", ""))
        self.text += piece
        return len(piece)

    def _finished(self, reason: Any) -> None:
        if reason == "max_tokens":
            raise CallFailed("limit", "cut by its length", retryable=False, partial=self.text)
        if reason == "refusal":
            raise CallFailed("bad_request", "the model refuses", retryable=False)
        self.finish = str(reason or self.finish)


def _blocks(item: Item) -> list[dict[str, Any]]:
    if item.role == "tool":
        return [{"type": "tool_result", "tool_use_id": item.call_id, "content": item.text}]
    made: list[dict[str, Any]] = [{"type": "text", "text": item.text}] if item.text else []
    for call in item.calls:
        made.append(
            {
                "type": "tool_use",
                "id": call.id,
                "name": call.name,
                "input": dict(call.arguments),
            }
        )
    return made


def _failed(error: Any) -> CallFailed:
    error = error if isinstance(error, Mapping) else {}
    return of_code(str(error.get("type", "server_error")), str(error.get("message", "")))
