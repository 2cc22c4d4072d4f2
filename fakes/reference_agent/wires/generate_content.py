"""The Gemini generateContent dialect, client side."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar
from urllib.parse import quote

from fakes.reference_agent.trouble import CallFailed, of_code, of_status
from fakes.reference_agent.wires.wire import Building, Item, Wire, parse_object


class GenerateContent(Wire):
    """``POST /v1beta/models/MODEL:streamGenerateContent?alt=sse``, or ``:generateContent``."""

    __slots__ = ()
    path: ClassVar[str] = "/v1beta/models/"

    @classmethod
    def target(cls, model: str, stream: bool) -> str:
        """Model and form stand in the path, not in the body."""
        form = ":streamGenerateContent?alt=sse" if stream else ":generateContent"
        return cls.path + quote(model, safe="") + form

    @classmethod
    def body(
        cls, items: Sequence[Item], tools: Sequence[Mapping[str, Any]], model: str, stream: bool
    ) -> dict[str, Any]:
        """Items become ``contents`` that take turns; an output names its call and its tool."""
        names = {call.id: call.name for item in items for call in item.calls}
        contents: list[dict[str, Any]] = []
        for item in items:
            if item.role == "system":
                continue
            role = "model" if item.role == "assistant" else "user"
            if not contents or contents[-1]["role"] != role:
                contents.append({"role": role, "parts": []})
            contents[-1]["parts"].extend(_parts(item, names))
        system = "\n".join(item.text for item in items if item.role == "system")
        declared = [
            {
                "name": tool["name"],
                "description": tool["description"],
                "parametersJsonSchema": tool["parameters"],
            }
            for tool in tools
        ]
        return {
            "systemInstruction": {"parts": [{"text": system}]},
            "contents": contents,
            "tools": [{"functionDeclarations": declared}],
        }

    def take(self, name: str, data: str) -> int:
        """Each event is an answer of its own; the one with a finish reason is the last."""
        return self._read(parse_object(data, "event"))

    def take_whole(self, document: Mapping[str, Any]) -> None:
        """A whole answer looks like one event."""
        if not document.get("error") and not document.get("candidates"):
            raise CallFailed("stream", "an answer without candidates")
        self._read(document)

    def _read(self, document: Mapping[str, Any]) -> int:
        if document.get("error"):
            raise _failed(document["error"])
        came = 0
        for candidate in document.get("candidates") or ():
            for part in (candidate.get("content") or {}).get("parts") or ():
                came += self._part(part)
            self._finished(candidate.get("finishReason"))
        return came

    def _part(self, part: Mapping[str, Any]) -> int:
        call = part.get("functionCall")
        if not isinstance(call, Mapping):
            piece = str(part.get("text", ""))
            self.text += piece
            return len(piece)
        if not isinstance(call.get("args"), Mapping):
            raise CallFailed("stream", "tool arguments: not an object")
        arguments = json.dumps(call["args"])
        own = str(call.get("id") or f"call-{len(self.building)}")
        self.building[own] = Building(own, str(call.get("name")), arguments)
        return len(arguments)

    def _finished(self, reason: Any) -> None:
        if not reason:
            return
        if reason == "MAX_TOKENS":
            raise CallFailed("limit", "cut by its length", retryable=False, partial=self.text)
        if reason != "STOP":
            raise CallFailed("bad_request", f"stopped: {reason}", retryable=False)
        self.finish, self.done = "stop", True


def _parts(item: Item, names: Mapping[str, str]) -> list[dict[str, Any]]:
    if item.role == "tool":
        name = names.get(item.call_id, "")
        output = {"id": item.call_id, "name": name, "response": {"output": item.text}}
        return [{"functionResponse": output}]
    made: list[dict[str, Any]] = [{"text": item.text}] if item.text else []
    for call in item.calls:
        given = {"id": call.id, "name": call.name, "args": dict(call.arguments)}
        made.append({"functionCall": given})
    return made


def _failed(error: Any) -> CallFailed:
    error = error if isinstance(error, Mapping) else {}
    code, message = error.get("code"), str(error.get("message", ""))
    if not isinstance(code, int):
        return of_code(str(error.get("status", "INTERNAL")), message)
    failure = of_status(code, message.encode(), None)
    failure.status = None  # the status that stands inside is not the answer's own
    return failure
