"""What happened, for tests to read: every message of both directions, and events.

One JSON line each in ``transcript.jsonl``: ``{pid, t, dir: "in"|"out", msg, ignored?,
violation?, reply_to?}`` or ``{pid, t, event, …}``. Several processes may write at once: a line
is one write to a file opened for appending.
"""

from __future__ import annotations

import json
import os
import threading
import time
from pathlib import Path
from typing import Any

FILE = "transcript.jsonl"


class Transcript:
    """The transcript of a state folder, as this process writes it."""

    def __init__(self, folder: Path) -> None:
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
        self._file = os.open(folder / FILE, flags, 0o600)
        self._lock = threading.RLock()

    def message(
        self,
        direction: str,
        message: Any,
        *,
        ignored: list[str] | None = None,
        violation: str = "",
        reply_to: str = "",
    ) -> None:
        """One message, `direction` as the server sees it; `ignored` are unknown fields."""
        entry = {"dir": direction, "msg": message}
        notes = {"ignored": ignored, "violation": violation, "reply_to": reply_to}
        self._write({**entry, **{key: note for key, note in notes.items() if note}})

    def event(self, event: str, **data: Any) -> None:
        """Something that is no message."""
        self._write({"event": event, **data})

    def _write(self, entry: dict[str, Any]) -> None:
        line = json.dumps({"pid": os.getpid(), "t": time.time(), **entry}) + "\n"
        with self._lock:
            os.write(self._file, line.encode())
