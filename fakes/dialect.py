"""What a dialect is: the provider protocol that a fake speaks.

A dialect is one file in ``dialects/`` that ends with ``DIALECT = …``. It reads a
request into :class:`ModelRequest` and writes a :class:`Reply` as frames of a
stream or as one plain body. It knows no sockets, no faults and no agents.

    bytes ─ read ─▶ ModelRequest ─ script ─▶ Reply ─ frames / whole ─▶ Frame, Frame … / body
"""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, ClassVar, Literal

Role = Literal["system", "developer", "user", "assistant", "tool"]
Part = Literal["start", "content", "arguments", "done", "terminal", "trailer"]
"""What a frame is for: the head of the answer, text, tool arguments, the closing of an
item, the frame by which the answer says that it is whole, and what may follow that."""


@dataclass(frozen=True, slots=True)
class ToolCall:
    """The model calls a tool. `id` is filled by the provider if empty.

    `raw` is sent instead of the arguments' JSON: for a fault that breaks them.
    """

    name: str
    arguments: dict[str, Any]
    namespace: str = ""
    id: str = ""
    raw: str = ""

    @property
    def text(self) -> str:
        """The arguments as a model writes them."""
        return self.raw or dumps(self.arguments)


@dataclass(frozen=True, slots=True)
class Turn:
    """One entry of the conversation that the client sent. `call_id` of a tool's output."""

    role: Role
    text: str
    tool_calls: tuple[ToolCall, ...] = ()
    call_id: str = ""


@dataclass(frozen=True, slots=True)
class ModelRequest:
    """A request for a model's answer, free of its dialect. `headers` have lower-case names."""

    dialect: str
    model: str
    stream: bool
    turns: tuple[Turn, ...]
    tools: tuple[str, ...]
    path: str
    headers: Mapping[str, str]
    body: dict[str, Any] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Problem:
    """An error as a provider reports it. `status` is the HTTP status it has or would have."""

    status: int
    code: str
    message: str


@dataclass(frozen=True, slots=True)
class Reply:
    """What the fake model says. Times in seconds.

    `first` passes before the first byte, `per_token` before each piece of content.
    `after` names milestones that must be reached before anything is sent, as
    ``"child:1 answered"``; `patience` is how long it waits for them at most.
    """

    text: str = ""
    tool_calls: tuple[ToolCall, ...] = ()
    per_token: float = 0.0
    first: float = 0.0
    after: tuple[str, ...] = ()
    patience: float = 120.0
    stop: Literal["", "length"] | Problem = ""
    """Why the model stopped before it was done: at its limit, or by an error."""
    ends: bool = False
    """Its call is the end: that of an agent whose sub-agents hand their answer in by a tool."""

    @property
    def final(self) -> bool:
        """Whether the model's turn ends with this (it calls no tool, or one that ends it)."""
        return self.ends or not self.tool_calls


@dataclass(frozen=True, slots=True, eq=False)
class Frame:
    """One server-sent event: its data (an object, or a literal such as ``[DONE]``) and name."""

    data: dict[str, Any] | str
    part: Part
    event: str = ""

    def wire(self) -> bytes:
        """The bytes of the event."""
        data = self.data if isinstance(self.data, str) else dumps(self.data)
        name = f"event: {self.event}\n" if self.event else ""
        return f"{name}data: {data}\n\n".encode("utf-8", "replace")


class BadRequest(Exception):
    """The body is no request of this dialect; the text says why."""


class Dialect(ABC):
    """One provider protocol. Instances have no state."""

    name: ClassVar[str]
    title: ClassVar[str]
    ending: ClassVar[str]
    """What the path of a request ends with (``/responses``)."""
    call_prefix: ClassVar[str] = "call_"
    """What the id of a tool call begins with."""

    def serves(self, path: str) -> bool:
        """Whether a request with this path (without its query) is one for a model's answer."""
        return path.endswith(self.ending)

    @abstractmethod
    def read(self, path: str, headers: Mapping[str, str], body: dict[str, Any]) -> ModelRequest:
        """The request; BadRequest when the body is none."""

    @abstractmethod
    def frames(self, request: ModelRequest, reply: Reply, answer_id: str) -> Sequence[Frame]:
        """The streamed form, whole and correct."""

    @abstractmethod
    def whole(self, request: ModelRequest, reply: Reply, answer_id: str) -> dict[str, Any]:
        """The plain form."""

    @abstractmethod
    def error(self, problem: Problem, request_id: str) -> dict[str, Any]:
        """The body of an HTTP error, in the provider's own shape."""

    @abstractmethod
    def error_frame(self, problem: Problem, sequence: int) -> Frame:
        """An error event inside a stream (`sequence`: how many events went before)."""

    @abstractmethod
    def models(self, model: str) -> dict[str, Any]:
        """The model list with one model."""

    @abstractmethod
    def headers(self, request_id: str) -> dict[str, str]:
        """Headers of every answer: request id and rate limits."""

    def limited(self, retry_after: str) -> dict[str, str]:
        """Rate-limit headers of a 429, beside Retry-After."""
        return {}


def dumps(value: Any) -> str:
    """Compact JSON as providers send it."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def tokens(text: str) -> list[str]:
    """The text in pieces as a model streams it: words with the space before them."""
    words = text.split(" ")
    return [word if index == 0 else f" {word}" for index, word in enumerate(words)] if text else []


def pieces(text: str, size: int = 12) -> list[str]:
    """JSON arguments in pieces of a few characters."""
    return [text[start : start + size] for start in range(0, len(text), size)]


@cache
def dialects() -> dict[str, Dialect]:
    """All dialects by name."""
    from fakes import dialects as folder
    from fakes.registry import members

    return {each.name: each for each in members(folder, "DIALECT").values()}
