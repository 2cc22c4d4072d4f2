"""Copilot's ``events.jsonl`` of a session: one file for the root and all its sub-agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.transcripts._base import Format, Reader
from runs.transcripts._copilot import Copilot
from runs.transcripts._sniff import records
from runs.transcripts._values import text

NEVER_STORED = ("model.call", "assistant.message_delta", "session.background_tasks", "result")
PATIENCE = 200_000


class CopilotSession(Copilot):
    """Follows the chain of parents as well, in which every record of the file stands."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "session")
        self._known: set[int] = set()
        """Hashes of the ids so far: a long session has a million."""
        self._missing: dict[str, tuple[int, int, int]] = {}
        self._first = True

    def chained(self, record: Mapping[str, Any]) -> None:
        """Name a record whose parent is not there: lost, out of order, or before the file."""
        parent = text(record.get("parentId"), 80)
        if self._first:
            self._first = False
            if parent and self.native != "session.start":
                self.damage("missing-start", repaired=False, detail="the log begins in mid-session")
                parent = ""
        elif parent and hash(parent) not in self._known and len(self._missing) < PATIENCE:
            self._missing.setdefault(parent, (self.line, self.offset, self.length))
        if len(self._known) < PATIENCE * 5:
            self._known.add(hash(self.native_id))

    def finish(self) -> None:
        """A parent that came later stood out of order; one that never came is lost."""
        for parent, (line, offset, size) in self._missing.items():
            self.line, self.offset, self.length = line, offset, size
            if hash(parent) in self._known:
                self.damage("reordered", repaired=True, detail="its parent stands further down")
            else:
                self.damage(
                    "broken-parent",
                    repaired=False,
                    detail="its parent is not in the log",
                    lost="record",
                )


class CopilotEvents(Format):
    """``~/.copilot/session-state/ID/events.jsonl``."""

    name = "copilot-events-jsonl"
    title = "Copilot session events"
    source = "session"
    agent = "copilot"

    def sniff(self, head: bytes, name: str) -> float:
        """By the envelope (type, data, id, timestamp, parentId), and nothing ephemeral."""
        found = [one for one in records(head) if "type" in one]
        shaped = [one for one in found if {"data", "id", "timestamp", "parentId"} <= one.keys()]
        if not shaped or len(shaped) * 2 < len(found):
            return 0.0
        live = any(
            one.get("ephemeral") or str(one["type"]).startswith(NEVER_STORED) for one in found
        )
        return 0.5 if live else 0.8 if "stdout" in name else 0.9

    def reader(self, file: str) -> Reader:
        """A reader of one session's file."""
        return CopilotSession(file)


READER = CopilotEvents()
