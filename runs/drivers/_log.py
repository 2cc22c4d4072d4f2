"""The readers that several drivers give a log for people, and what another source has as well."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from runs.core.events import Draft, Kind


class Log:
    """Standard error and the like: kept, and nothing is concluded from its words."""

    def __init__(self, file: str, source: str = "log") -> None:
        self.file, self.source = file, source
        self.facts: dict[str, Any] = {}

    def feed(self, line: bytes, number: int, offset: int) -> Iterable[Draft]:
        """One event a line."""
        words = line.decode("utf-8", "replace").strip()
        if words:
            yield Draft(
                kind=Kind.OTHER,
                source=self.source,
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


def printed(file: str) -> Log:
    """The same for a standard output that holds an answer for people and no records."""
    return Log(file, "stdout")


class Silent:
    """Reads nothing: a source beside this one has the same lines, and more."""

    def __init__(self, file: str) -> None:
        self.facts: dict[str, Any] = {}

    def feed(self, line: bytes, number: int, offset: int) -> Iterable[Draft]:
        """Nothing."""
        return ()

    def end(self) -> Iterable[Draft]:
        """Nothing."""
        return ()
