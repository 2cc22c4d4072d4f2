"""The agent's log: the same records in every view, each view whole.

Standard output and ``session.jsonl`` hold every record; ``hooks.jsonl`` holds
what a hook would be told (starts and ends of the session and its agents);
``trace.jsonl`` holds finished spans. A record is one JSON object a line:
``{"id", "at" (epoch seconds), "type", "agent", …}``.
"""

from __future__ import annotations

import json
import os
import sys
import time
from pathlib import Path
from typing import Any

FORMAT = "lifeline-reference/1"
HOOKED = frozenset({"session.started", "session.ended", "agent.started", "agent.ended"})


class Log:
    """Writes records; `boot` numbers the starts of one session (0, then 1 after a restart)."""

    def __init__(self, folder: Path, boot: int = 0) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        self.folder = folder
        self.boot = boot
        self._count = 0
        self._session = (folder / "session.jsonl").open("ab", buffering=0)
        self._hooks = (folder / "hooks.jsonl").open("ab", buffering=0)
        self._trace = (folder / "trace.jsonl").open("ab", buffering=0)

    def write(self, kind: str, agent: str, *, hide: str = "", **data: Any) -> dict[str, Any]:
        """Write one record to every view that it belongs to, except the view `hide`."""
        self._count += 1
        record = {
            "id": f"{self.boot}-{self._count}",
            "at": round(time.time(), 6),
            "type": kind,
            "agent": agent,
            **data,
        }
        line = json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
        if hide != "session":
            self._session.write(line)
        if hide != "stdout":
            sys.stdout.buffer.write(line)
            sys.stdout.buffer.flush()
        if kind in HOOKED and hide != "hooks":
            self._hooks.write(line)
        return record

    def span(self, **data: Any) -> None:
        """Write one finished span to the trace."""
        line = json.dumps({"type": "trace.span", **data}, separators=(",", ":"))
        self._trace.write(line.encode() + b"\n")

    def damage(self) -> None:
        """Leave half a record behind, as a writer that died in the middle does."""
        self._session.write(b'{"id":"' + os.urandom(3).hex().encode() + b'","at":17')
