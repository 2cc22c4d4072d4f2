"""Qwen Code's description of a sub-agent (``agent-….meta.json``), written anew each time."""

from __future__ import annotations

from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._documents import Document
from runs.transcripts._sniff import document
from runs.transcripts._values import TERMINAL, mapping, moment, status, text

KEYS = frozenset({"agentId", "agentType", "parentSessionId", "toolUseId", "status"})


class Meta(Document):
    """One sub-agent."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "session")
        self.facts["agent"] = "qwen"

    def document(self, data: Any) -> None:
        """Its start, and its end where it has come to one."""
        about = mapping(data)
        agent, raw = text(about.get("agentId")), text(about.get("status"), 40)
        if not agent:
            return
        self.at = moment(about.get("createdAt"))
        self.pointer = "/createdAt"
        self.add(
            Kind.AGENT_STARTED,
            agent,
            parent=text(about.get("parentAgentId")) or ROOT,
            role=text(about.get("agentType"), 80),
            name=text(about.get("description"), 80),
            call=text(about.get("toolUseId")),
            background=about.get("isBackgrounded") is True,
        )
        self.at = moment(about.get("lastUpdatedAt"))
        self.pointer = "/status"
        if status(raw) in TERMINAL:
            self.add(Kind.AGENT_ENDED, agent, status=status(raw), raw=raw)
        else:
            self.other("status", raw, agent)


class QwenMeta(Format):
    """What is known of one sub-agent."""

    name = "qwen-agent-meta"
    title = "Qwen Code description of a sub-agent"
    source = "session"
    agent = "qwen"
    whole = True

    def sniff(self, head: bytes, name: str) -> float:
        """By its keys."""
        found = document(head)
        return 0.97 if isinstance(found, dict) and set(found) >= KEYS else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one description."""
        return Meta(file)


READER = QwenMeta()
