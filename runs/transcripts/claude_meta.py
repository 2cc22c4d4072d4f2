"""Claude Code's note beside a sub-agent's file: ``agent-ID.meta.json``."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runs.core.events import Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._documents import Document
from runs.transcripts._sniff import document
from runs.transcripts._values import integer, mapping, text

_ID = re.compile(r"agent-([\w-]+)\.meta\.json$")


class Meta(Document):
    """Says to which call a sub-agent belongs; the joining of a case uses the facts."""

    def document(self, data: Any) -> None:
        """The whole note."""
        note = mapping(data)
        found = _ID.search(self.file)
        child = found[1] if found else ""
        shape = text(note.get("requestShape"), 40)
        background = {"background": True, "foreground": False}.get(shape)
        self.facts.update(
            child=child,
            call=text(note.get("toolUseId")),
            role=text(note.get("agentType")),
            name=text(note.get("description")),
            model=text(note.get("model")),
            background=background,
            depth=integer(note.get("spawnDepth")),
        )
        self.native = "meta"
        self.add(Kind.OTHER, child, type="meta", summary=shape)


class ClaudeMeta(Format):
    """One small JSON object a sub-agent."""

    name = "claude-subagent-meta"
    title = "Claude Code sub-agent note"
    source = "session"
    agent = "claude"
    clock = "none"
    whole = True

    def sniff(self, head: bytes, name: str) -> float:
        """By its name and its one certain key."""
        note: Mapping[str, Any] = mapping(document(head))
        return 0.95 if "agentType" in note and name.endswith(".meta.json") else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one note."""
        return Meta(file, self.source)


READER = ClaudeMeta()
