"""How the process ended: ``{"exit_code": 0, "signal": null, "wall_ms": 27000}``."""

from __future__ import annotations

from typing import Any

from runs.core.events import Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._documents import Document
from runs.transcripts._sniff import document
from runs.transcripts._values import integer, mapping, moment, number, seconds, text

_CODES = ("exit_code", "exitCode", "returncode")
_MOST_KEYS = 16


class ProcessExit(Document):
    """One exit."""

    def document(self, data: Any) -> None:
        """The whole record. A time is epoch (ended_at) or seconds since the start."""
        found = mapping(data)
        code = next((integer(found[key]) for key in _CODES if key in found), None)
        self.line = 1
        self.native = "exit"
        self.at = moment(found.get("ended_at"))
        if self.at is None:
            self.at = seconds(found.get("wall_ms"))
        if self.at is None:
            self.at = number(found.get("wall_s"))
        signal = found.get("signal")
        self.add(Kind.PROCESS_EXITED, code=code, signal=text(signal) or None)


class ProcessExitFormat(Format):
    """One small object."""

    name = "process-exit"
    title = "Process exit"
    source = "exit"
    clock = "relative"
    whole = True

    def sniff(self, head: bytes, name: str) -> float:
        """A small object with an exit code and little else."""
        found = mapping(document(head)) if len(head) < 4096 else {}
        if not any(key in found for key in _CODES) or len(found) > _MOST_KEYS:
            return 0.0
        return 0.9 if {"signal", "wall_ms"} & found.keys() or "exit" in name else 0.5

    def reader(self, file: str) -> Reader:
        """A reader of one exit record."""
        return ProcessExit(file, self.source)


READER = ProcessExitFormat()
