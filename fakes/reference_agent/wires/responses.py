"""The OpenAI Responses dialect, client side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from fakes.reference_agent.trouble import CallFailed, of_code
from fakes.reference_agent.wires.wire import Building, Item, Wire, parse_object


class Responses(Wire):
    """``POST /v1/responses``."""

    __slots__ = ()
    path: ClassVar[str] = "/v1/responses"

    @classmethod
    def body(
        cls, items: Sequence[Item], tools: Sequence[Mapping[str, Any]], model: str, stream: bool
    ) -> dict[str, Any]:
        """Items become ``input``; a system item becomes ``instructions``."""
        given: list[dict[str, Any]] = []
        for item in items:
            given.extend(_input(item))
        system = "\n".join(item.text for item in items if item.role == "system")
        return {
            "model": model,
            "instructions": system,
            "input": given,
            "tools": [{"type": "function", **tool} for tool in tools],
            "stream": stream,
            "store": False,
        }

    def take(self, name: str, data: str) -> int:
        """Events carry their type inside as well; the inner one counts."""
        event = parse_object(data, "event")
        kind = str(event.get("type", name))
        if kind == "response.output_text.delta":
            self.text += str(event.get("delta", ""))
            return len(str(event.get("delta", "")))
        if kind == "response.function_call_arguments.delta":
            return len(str(event.get("delta", "")))
        if kind == "response.completed":
            self.take_whole(event.get("response") or {})
        elif kind == "response.incomplete":
            raise _incomplete(event.get("response") or {})
        elif kind == "response.failed":
            raise _failed((event.get("response") or {}).get("error"))
        elif kind == "error":
            raise _failed(event.get("error") or event)
        return 0

    def take_whole(self, document: Mapping[str, Any]) -> None:
        """The output items of a response object. A second end of one answer changes nothing."""
        status = document.get("status")
        if status == "failed" or document.get("error"):
            raise _failed(document.get("error"))
        if status == "incomplete":
            raise _incomplete(document)
        if status != "completed":
            raise CallFailed("stream", f"an answer with status {status!r}")
        text = ""
        for item in document.get("output") or ():
            if item.get("type") == "function_call":
                call = str(item.get("call_id"))
                self.building[call] = Building(call, str(item["name"]), str(item["arguments"]))
            elif item.get("type") == "message":
                parts = item.get("content") or ()
                text += "".join(str(part.get("text", "")) for part in parts)
        self.text = text or self.text
        self.finish, self.done = "stop", True


def _input(item: Item) -> list[dict[str, Any]]:
    if item.role == "system":
        return []
    if item.role == "tool":
        return [{"type": "function_call_output", "call_id": item.call_id, "output": item.text}]
    what = "output_text" if item.role == "assistant" else "input_text"
    made: list[dict[str, Any]] = []
    if item.text:
        content = [{"type": what, "text": item.text}]
        made.append({"type": "message", "role": item.role, "content": content})
    for call in item.calls:
        arguments = json.dumps(dict(call.arguments))
        made.append(
            {
                "type": "function_call",
                "call_id": call.id,
                "name": call.name,
                "arguments": arguments,
            }
        )
    return made


def _failed(error: Any) -> CallFailed:
    error = error if isinstance(error, Mapping) else {}
    code = error.get("code") or error.get("type") or "server_error"
    return of_code(str(code), str(error.get("message", "")))


def _incomplete(document: Mapping[str, Any]) -> CallFailed:
    reason = (document.get("incomplete_details") or {}).get("reason", "")
    output = document.get("output") or ()
    partial = "".join(
        str(part.get("text", "")) for item in output for part in item.get("content") or ()
    )
    return CallFailed("limit", f"incomplete: {reason}", retryable=False, partial=partial)
