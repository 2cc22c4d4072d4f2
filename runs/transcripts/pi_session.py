"""pi's session file, the root's: ``sessions/FOLDER/TIME_ID.jsonl``. Sub-agents store nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._pi import Pi
from runs.transcripts._sniff import records
from runs.transcripts._steady import Order
from runs.transcripts._values import items, length, mapping, moment, text


class PiSession(Pi):
    """One session: an entry a message. A result has what its sub-agent said, at its times."""

    order = Order(loose=frozenset({"message/toolResult"}))

    def __init__(self, file: str) -> None:
        super().__init__(file, "session")

    def identity(self, record: Mapping[str, Any]) -> str:
        """An entry's own id."""
        return text(record.get("id"), 80)

    def record(self, record: Mapping[str, Any]) -> None:
        """One entry."""
        self.at = moment(record.get("timestamp"))
        if self.native == "session":
            self.header(record)
        elif self.native == "message":
            self._message(mapping(record.get("message")))
        else:
            self.other(self.native, agent=ROOT)

    def _message(self, message: Mapping[str, Any]) -> None:
        role = text(message.get("role"), 40)
        self.native = f"message/{role}"
        if role == "assistant":
            self.assistant(message, ROOT)
            for part in items(message.get("content")):
                self.called(mapping(part), ROOT)
        elif role == "user":
            self.add(Kind.USER_MESSAGE, ROOT, text_length=length(message.get("content")))
        elif role == "toolResult":
            self.answered(message, ROOT)
        else:
            self.other(self.native, agent=ROOT)


class PiSessionFormat(Format):
    """The stored view."""

    name = "pi-session-jsonl"
    title = "pi session"
    source = "session"
    agent = "pi"

    def sniff(self, head: bytes, name: str) -> float:
        """By its header, and entries that name the entry before them."""
        found = records(head)
        header = any(
            one.get("type") == "session" and {"version", "id", "cwd"} <= one.keys() for one in found
        )
        entries = [one for one in found if {"parentId", "id", "timestamp"} <= one.keys()]
        return 0.9 if header and entries else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one session."""
        return PiSession(file)


READER = PiSessionFormat()
