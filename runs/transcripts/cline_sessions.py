"""What Cline has stored of its sessions: the rows of ``sessions`` in its database, as JSON lines.

Each row is ``{"cline_session": {…}}``, the root's before those of its sub-agents.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._steady import Order
from runs.transcripts._values import TERMINAL, integer, mapping, moment, status, text

ROW = "cline_session"


class ClineSessions(Lines):
    """The rows of one database. A sub-agent's row has its stored end."""

    envelope = frozenset({ROW})
    order = Order(jump=None, strict=False)

    def __init__(self, file: str) -> None:
        super().__init__(file, "session")
        self.facts["agent"] = "cline"
        self._known: set[str] = set()

    def record(self, record: Mapping[str, Any]) -> None:
        """One row."""
        row = mapping(record.get(ROW))
        self.native = "sessions"
        self.native_id = text(row.get("session_id"), 160)
        self.at = moment(row.get("started_at"))
        if not row:
            self.other("row")
        elif row.get("is_subagent"):
            self._child(row)
        else:
            self._root(row)

    def _root(self, row: Mapping[str, Any]) -> None:
        version, session = _version(row), text(row.get("session_id"), 160)
        model = text(row.get("model"))
        self.facts.update(version=version, session=session, model=model)
        cwd = text(row.get("cwd"), 400)
        self.add(Kind.SESSION_STARTED, ROOT, version=version, session=session, model=model, cwd=cwd)
        self.at = moment(row.get("ended_at"))
        if self.at is not None:
            code, word = integer(row.get("exit_code")), text(row.get("status"), 40)
            failed = status(word) != "completed" or bool(code)
            self.add(Kind.RESULT, ROOT, status=word, is_error=failed, exit_code=code)

    def _child(self, row: Mapping[str, Any]) -> None:
        agent, above = text(row.get("agent_id")), text(row.get("parent_agent_id"))
        parent = above if above in self._known else ROOT
        if agent in self._known:  # a teammate has a row for each of its tasks
            self.add(Kind.AGENT_RESUMED, agent)
        else:
            self._known.add(agent)
            self.add(Kind.AGENT_STARTED, agent, parent=parent, model=text(row.get("model")))
        word = text(row.get("status"), 40)
        ours = status(word)
        self.at = moment(row.get("ended_at"))
        if ours in TERMINAL and self.at is not None:
            self.add(Kind.AGENT_ENDED, agent, status=ours, raw=word)


def _version(row: Mapping[str, Any]) -> str:
    try:
        told = json.loads(text(row.get("metadata_json"), 100_000))
    except (ValueError, RecursionError):
        return ""
    return text(mapping(mapping(told).get("sessionHistoryOrigin")).get("version"))


class ClineSessionsFormat(Format):
    """The stored view."""

    name = "cline-sessions"
    title = "Cline stored sessions"
    source = "session"
    agent = "cline"

    def sniff(self, head: bytes, name: str) -> float:
        """By the row's name and its columns."""
        found = [mapping(one.get(ROW)) for one in records(head)]
        return 0.9 if any({"is_subagent", "enable_spawn"} <= row.keys() for row in found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one database's rows."""
        return ClineSessions(file)


READER = ClineSessionsFormat()
