"""The reader that several drivers give a log for people."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runs.core.events import Draft, Kind


class Log:
    """Standard error and the like: kept, and nothing is concluded from its words."""

    def __init__(self, file: str) -> None:
        self.file = file
        self.facts: dict[str, Any] = {}

    def feed(self, line: bytes, number: int, offset: int) -> Iterable[Draft]:
        """One event a line."""
        words = line.decode("utf-8", "replace").strip()
        if words:
            yield Draft(
                kind=Kind.OTHER,
                source="log",
                file=self.file,
                line=number,
                offset=offset,
                length=len(line),
                native="line",
                data={"type": "line", "summary": words[:400]},
            )

    def end(self) -> Iterable[Draft]:
        """Nothing is held back."""
        return ()
