"""Google's Gemini API: ``POST /v1beta/models/MODEL:generateContent`` or ``:streamGenerateContent``.

Model and form stand in the path, not in the body. A call comes whole, in one event, and an
output names its call by an id or, where clients send none, by the tool's name alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

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
    tokens,
)

PLAIN, STREAM = ":generateContent", ":streamGenerateContent"
STATUS = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    429: "RESOURCE_EXHAUSTED",
    500: "INTERNAL",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
"""Google's word for an HTTP status; others: by their hundred."""


class GenerateContent(Dialect):
    """The Gemini dialect. The event with a finish reason ends an answer."""

    name = "generate_content"
    title = "Gemini generateContent"
    ending = PLAIN

    def serves(self, path: str) -> bool:
        return path.endswith((PLAIN, STREAM))

    def read(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> ModelRequest:
        contents = body.get("contents")
        if not isinstance(contents, list):
            raise BadRequest("contents must be a list.")
        place = urlsplit(path)
        stream = place.path.endswith(STREAM)
        if stream and parse_qs(place.query).get("alt") != ["sse"]:
            raise BadRequest("This server streams server-sent events only: add ?alt=sse.")
        system = _text(body.get("systemInstruction") or body.get("system_instruction"))
        turns = [Turn("system", system)] if system else []
        return ModelRequest(
            dialect=self.name,
            model=unquote(place.path.rpartition("/")[2].partition(":")[0]),
            stream=stream,
            turns=(*turns, *_turns(contents)),
            tools=tuple(_tools(body.get("tools"))),
            path=path,
            headers=headers,
            body=body,
        )

    def frames(self, request: ModelRequest, reply: Reply, answer_id: str) -> Sequence[Frame]:
        def chunk(part: Part, said: dict[str, Any], finish: str = "") -> Frame:
            used = _usage(request, reply if finish else Reply())
            return Frame(_answer(request, answer_id, [said], finish, used), part)

        frames = [chunk("start", {"text": ""})]
        frames += [chunk("content", {"text": token}) for token in tokens(reply.text)]
        frames += [chunk("arguments", _call(call)) for call in reply.tool_calls]
        return [*frames, chunk("terminal", {"text": ""}, _finish(reply))]

    def whole(self, request: ModelRequest, reply: Reply, answer_id: str) -> dict[str, Any]:
        parts = [{"text": reply.text}] if reply.text or reply.final else []
        parts += [_call(call) for call in reply.tool_calls]
        used = _usage(request, reply)
        return _answer(request, answer_id, parts, _finish(reply), used)

    def error(self, problem: Problem, request_id: str) -> dict[str, Any]:
        fallback = "INTERNAL" if problem.status >= 500 else "FAILED_PRECONDITION"
        info = {
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            "reason": problem.code.upper(),
            "domain": "googleapis.com",
        }
        told = {
            "code": problem.status,
            "message": problem.message,
            "status": STATUS.get(problem.status, fallback),
        }
        return {"error": {**told, **({"details": [info]} if problem.code else {})}}

    def error_frame(self, problem: Problem, sequence: int) -> Frame:
        return Frame(self.error(problem, ""), "terminal")

    def models(self, model: str) -> dict[str, Any]:
        one = {
            "name": f"models/{model}",
            "version": "001",
            "displayName": model,
            "inputTokenLimit": 1_048_576,
            "outputTokenLimit": 65_536,
            "supportedGenerationMethods": ["generateContent", "countTokens"],
        }
        return {"models": [one]}

    def headers(self, request_id: str) -> dict[str, str]:
        return {"x-request-id": request_id, "server-timing": "gfet4t7; dur=1"}


def _answer(
    request: ModelRequest,
    answer_id: str,
    parts: list[dict[str, Any]],
    finish: str,
    used: dict[str, Any],
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"content": {"parts": parts, "role": "model"}, "index": 0}
    if finish:
        candidate["finishReason"] = finish
    return {
        "candidates": [candidate],
        "usageMetadata": used,
        "modelVersion": request.model,
        "responseId": answer_id,
    }


def _call(call: ToolCall) -> dict[str, Any]:
    return {"functionCall": {"id": call.id, "name": call.name, "args": call.arguments}}


def _finish(reply: Reply) -> str:
    return "MAX_TOKENS" if reply.stop == "length" else "STOP"


def _usage(request: ModelRequest, reply: Reply) -> dict[str, Any]:
    used = sum(len(turn.text) for turn in request.turns) // 4 + 1
    said = (len(reply.text) + sum(len(call.text) for call in reply.tool_calls)) // 4
    details = [{"modality": "TEXT", "tokenCount": used}]
    return {
        "promptTokenCount": used,
        "candidatesTokenCount": said,
        "totalTokenCount": used + said,
        "promptTokensDetails": details,
    }


def _parts(content: Any) -> list[dict[str, Any]]:
    parts = content.get("parts") if isinstance(content, dict) else None
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []


def _text(content: Any) -> str:
    """The words of a content, without the model's own thoughts."""
    if isinstance(content, str):
        return content
    words = [part.get("text") for part in _parts(content) if not part.get("thought")]
    return "\n".join(word for word in words if isinstance(word, str) and word)


def _turns(contents: list[Any]) -> Iterator[Turn]:
    """The conversation; an output without an id answers the oldest open call of its tool."""
    waiting: dict[str, list[str]] = {}
    for place, content in enumerate(contents):
        if isinstance(content, dict):
            yield from _outputs(content, waiting)
            calls = tuple(_calls(content, place))
            for call in calls:
                waiting.setdefault(call.name, []).append(call.id)
            words = _text(content)
            if words or calls:
                yield Turn("assistant" if content.get("role") == "model" else "user", words, calls)


def _calls(content: dict[str, Any], place: int) -> Iterator[ToolCall]:
    for number, part in enumerate(_parts(content)):
        call = part.get("functionCall")
        if isinstance(call, dict):
            name, given = str(call.get("name", "")), call.get("args")
            own = str(call.get("id") or f"{name}_{place}_{number}")
            yield ToolCall(name, given if isinstance(given, dict) else {}, id=own)


def _outputs(content: dict[str, Any], waiting: dict[str, list[str]]) -> Iterator[Turn]:
    for part in _parts(content):
        output = part.get("functionResponse")
        if not isinstance(output, dict):
            continue
        open_calls = waiting.get(str(output.get("name", "")), [])
        own = str(output.get("id") or (open_calls[0] if open_calls else ""))
        if own in open_calls:
            open_calls.remove(own)
        yield Turn("tool", _said(output.get("response")), call_id=own)


def _said(response: Any) -> str:
    """What a tool answered: its only text, or the whole object."""
    if isinstance(response, dict) and len(response) == 1:
        (value,) = response.values()
        if isinstance(value, str):
            return value
    return response if isinstance(response, str) else dumps(response)


def _tools(given: Any) -> Iterator[str]:
    """Names of the functions; of a built-in tool its key."""
    for tool in given if isinstance(given, list) else []:
        for key, value in tool.items() if isinstance(tool, dict) else ():
            if key not in ("functionDeclarations", "function_declarations"):
                yield str(key)
                continue
            for function in value if isinstance(value, list) else []:
                if isinstance(function, dict):
                    yield str(function.get("name", ""))


DIALECT = GenerateContent()
