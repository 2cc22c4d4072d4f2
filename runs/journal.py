"""The provider's journal as a source: one JSON line a record, and an event each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from runs.core.events import Draft, Kind


class Journal:
    """Takes the provider's records, keeps them in a file and gives them on as drafts."""

    def __init__(self, path: Path, sink: Callable[[Draft], object]) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = path.open("ab")
        self._name, self._sink = path.name, sink
        self._line, self._offset = 0, 0

    def record(self, record: dict[str, Any]) -> None:
        """Keep one record (``what``, ``at`` and the keys of its kind)."""
        line = json.dumps(record, ensure_ascii=False, separators=(",", ":")).encode() + b"\n"
        self._file.write(line)
        self._file.flush()
        self._line += 1
        data = {key: value for key, value in record.items() if key not in ("what", "at")}
        self._sink(
            Draft(
                kind=Kind(record["what"]),
                source="provider",
                file=self._name,
                at=record["at"],
                line=self._line,
                offset=self._offset,
                length=len(line),
                native=record["what"],
                data=data,
            )
        )
        self._offset += len(line)

    def close(self) -> None:
        """No more records."""
        self._file.close()
