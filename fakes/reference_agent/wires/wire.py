"""What a dialect of the client is: conversation items out, one answer in."""

from __future__ import annotations

import json
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

from fakes.reference_agent.trouble import CallFailed


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of the model."""

    id: str
    name: str
    arguments: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Item:
    """One piece of a conversation: system, user, assistant (with calls) or a tool's output."""

    role: str
    text: str
    calls: tuple[Call, ...] = ()
    call_id: str = ""

    def as_dict(self) -> dict[str, Any]:
        """As JSON, for the state that survives a restart."""
        calls = [[call.id, call.name, dict(call.arguments)] for call in self.calls]
        return {"role": self.role, "text": self.text, "calls": calls, "call_id": self.call_id}

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Item:
        """From what `as_dict` gave."""
        calls = tuple(Call(*call) for call in given["calls"])
        return cls(given["role"], given["text"], calls, given["call_id"])


@dataclass(slots=True)
class Answer:
    """A whole answer. `finish`: stop, tool_calls or length."""

    text: str = ""
    calls: tuple[Call, ...] = ()
    finish: str = "stop"


@dataclass(slots=True)
class Building:
    """A tool call while its arguments still arrive."""

    id: str
    name: str
    arguments: str = ""

    def call(self) -> Call:
        """The finished call; CallFailed when its arguments are no JSON object."""
        return Call(self.id, self.name, parse_object(self.arguments or "{}", "tool arguments"))


@dataclass(slots=True)
class Wire(ABC):
    """One answer being read. Make a new one for every request."""

    path: ClassVar[str]
    text: str = ""
    building: dict[str, Building] = field(default_factory=dict)
    finish: str = ""
    done: bool = False

    @classmethod
    def target(cls, model: str, stream: bool) -> str:
        """Where a request goes: path and query."""
        return cls.path

    @classmethod
    @abstractmethod
    def body(
        cls, items: Sequence[Item], tools: Sequence[Mapping[str, Any]], model: str, stream: bool
    ) -> dict[str, Any]:
        """The request's body. `tools`: name, description, parameters (a JSON schema)."""

    @abstractmethod
    def take(self, name: str, data: str) -> int:
        """Read one streamed event; gives how much content came. CallFailed for an error in it."""

    @abstractmethod
    def take_whole(self, document: Mapping[str, Any]) -> None:
        """Read a plain answer."""

    def answer(self) -> Answer:
        """What was read; CallFailed when the answer has no end."""
        if not self.done:
            raise CallFailed("stream", "the stream ended before its last event", partial=self.text)
        calls = tuple(item.call() for item in self.building.values())
        return Answer(self.text, calls, "tool_calls" if calls else self.finish or "stop")


def parse_object(text: str, what: str) -> dict[str, Any]:
    """A JSON object; CallFailed (stream) when the text is none."""
    try:
        value = json.loads(text)
    except ValueError:
        raise CallFailed("stream", f"{what}: not JSON") from None
    if not isinstance(value, dict):
        raise CallFailed("stream", f"{what}: not an object")
    return value
