"""OpenCode's bus: ``GET /event``, or a file of its events."""

from __future__ import annotations

from runs.transcripts._base import Format, Reader
from runs.transcripts._opencode_bus import Bus
from runs.transcripts._sniff import records
from runs.transcripts._values import mapping, text

_KNOWN = ("session.", "message.", "permission.", "server.", "question.", "plugin.", "catalog.")


class OpenCodeEvents(Format):
    """All sessions of one server."""

    name = "opencode-event-jsonl"
    title = "OpenCode bus events"
    source = "bus"
    agent = "opencode"

    def sniff(self, head: bytes, name: str) -> float:
        """By type and properties."""
        found = [mapping(one.get("payload")) or one for one in records(head)]
        mine = [
            one
            for one in found
            if "properties" in one and text(one.get("type"), 80).startswith(_KNOWN)
        ]
        return 0.92 if mine and len(mine) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one stream."""
        return Bus(file)


READER = OpenCodeEvents()
