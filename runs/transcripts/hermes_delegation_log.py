"""Hermes' log of one delegated task (``delegation/live/ID/task-N.log``), a line a step.

It names its delegation and not its session, and its times have neither a date nor a zone: what it
says is shown and concluded from by nobody.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any

from runs.core.events import Draft, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._values import clean

TITLE = b"=== Hermes subagent live transcript ==="
_STEP = re.compile(r"\d\d:\d\d:\d\d (\w{1,20}) *\| (.*)", re.DOTALL)


class DelegationLog:
    """One task."""

    def __init__(self, file: str) -> None:
        self.facts: dict[str, Any] = {"agent": "hermes"}
        self._file = file

    def feed(self, line: bytes, number: int, offset: int) -> Iterable[Draft]:
        """One event a line that is not blank."""
        if not line.strip():
            return
        shown = clean(line.decode("utf-8", "replace").strip())
        step = _STEP.match(shown)
        word, summary = step.groups() if step else ("header", shown)
        yield Draft(
            kind=Kind.OTHER, source="log", file=self._file, line=number, offset=offset,
            length=len(line), native=word, data={"type": f"task/{word}", "summary": summary[:400]},
        )  # fmt: skip

    def end(self) -> Iterable[Draft]:
        """Nothing."""
        return ()


class HermesDelegationLog(Format):
    """A log of one task."""

    name = "hermes-delegation-log"
    title = "Hermes log of a delegated task"
    source = "log"
    agent = "hermes"
    clock = "none"

    def sniff(self, head: bytes, name: str) -> float:
        """By its first line."""
        return 1.0 if head.lstrip(b"\xef\xbb\xbf").startswith(TITLE) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one task."""
        return DelegationLog(file)


READER = HermesDelegationLog()
