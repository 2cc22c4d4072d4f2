"""Copilot's process log (``~/.copilot/logs``): free text that differs by version.

What is useful of it is when the process still lived, its version, and lines of
errors; nothing is concluded from its prose.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from runs.core.events import ROOT, Draft, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._values import moment, text

_LINE = re.compile(rb"^\[?(\d{4}-\d\d-\d\dT[\d:.]+Z?)\]?\s+\[(\w+)\]\s?(.*)$")
_VERSION = re.compile(rb"(?:Copilot CLI|copilot|version)[:/ v]+(\d+\.\d+\.\d+[\w.-]*)", re.I)


class ProcessLog(Lines):
    """One file. A line without a time belongs to the one before it."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "log")
        self.facts["agent"] = "copilot"

    def feed(self, line: bytes, number: int, offset: int) -> Iterable[Draft]:
        """One line of text."""
        self.out = []
        self._stand(number, offset, len(line))
        stripped = line.strip()
        if not stripped:
            return self.out
        found = _LINE.match(stripped[:4000])
        level, words = "CONTINUED", stripped
        if found:
            self.at = moment(found[1].decode("ascii", "replace"))
            level, words = found[2].decode("ascii", "replace").upper(), found[3]
            if "version" not in self.facts:
                version = _VERSION.search(words)
                if version:
                    self.facts["version"] = version[1].decode("ascii", "replace")
        summary = text(words[:800].decode("utf-8", "replace"))
        self.native = level.lower()
        self.add(Kind.OTHER, ROOT, type=f"log/{level.lower()}", summary=summary)
        return self.out


class CopilotLog(Format):
    """``process-*.log``."""

    name = "copilot-process-log"
    title = "Copilot process log"
    source = "log"
    agent = "copilot"

    def sniff(self, head: bytes, name: str) -> float:
        """By lines that begin with a time and a level; its words decide whose they are."""
        lines = [line.strip() for line in head.split(b"\n")[:40] if line.strip()]
        mine = sum(1 for line in lines if _LINE.match(line[:4000]))
        if not mine or mine * 3 < len(lines):
            return 0.0
        return 0.8 if b"opilot" in head or "copilot" in name.lower() else 0.3

    def reader(self, file: str) -> Reader:
        """A reader of one log."""
        return ProcessLog(file)


READER = CopilotLog()
