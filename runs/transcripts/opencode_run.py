"""Standard output of ``opencode run --format json``: the parts of the root's session only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._opencode import OpenCode
from runs.transcripts._sniff import records
from runs.transcripts._values import length, mapping, moment, text

TYPES = frozenset({"step_start", "tool_use", "step_finish", "text", "error", "reasoning"})


class Run(OpenCode):
    """One run's output."""

    envelope = frozenset({"type", "sessionID"})

    def __init__(self, file: str) -> None:
        super().__init__(file, "stdout")
        self._begun = False
        self._size = 0
        self._calls = 0

    def record(self, record: Mapping[str, Any]) -> None:
        """One part."""
        self.at = moment(record.get("timestamp"))
        agent = text(record.get("sessionID"))
        part = mapping(record.get("part"))
        self.native_id = text(part.get("id"), 80)
        if not self._begun:
            self._begun = True
            self.facts["session"] = agent
            self.add(Kind.SESSION_STARTED, agent, session=agent)
        if self.native == "tool_use":
            self._calls += 1
            self.tool(agent, part)
        elif self.native == "text":
            self._size += length(part.get("text"))
            self.add(Kind.DELTA, agent, text_length=length(part.get("text")), what="text")
        elif self.native == "step_finish":
            info = {"finish": part.get("reason"), "tokens": part.get("tokens")}
            self.finished(agent, info, self._size, self._calls)
            self._size = self._calls = 0
        elif self.native == "error":
            self.error(agent, record.get("error"))
        else:
            self.other(self.native, agent=agent)


class OpenCodeRun(Format):
    """A headless run."""

    name = "opencode-run-json"
    title = "OpenCode run output"
    source = "stdout"
    agent = "opencode"

    def sniff(self, head: bytes, name: str) -> float:
        """By type, timestamp and sessionID."""
        found = records(head)
        mine = [
            one
            for one in found
            if text(one.get("type")) in TYPES and {"timestamp", "sessionID"} <= one.keys()
        ]
        return 0.9 if mine and len(mine) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one run's output."""
        return Run(file)


READER = OpenCodeRun()
