"""Runs inside a run: starts Hermes and tells what it stores, as it stores it.

``inside.py VERSION-COMMAND STATE.DB ROWS [LIMIT=N…] -- COMMAND…``. Hermes keeps its sessions in a
SQLite file, which nobody can follow as text: each new or changed row becomes a JSON line
``{t, table, row}`` in ROWS. The command has our standard streams and our end is its own. It uses
the standard library alone.
"""

from __future__ import annotations

import contextlib
import json
import os
import shlex
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

POLL = 0.1
"""Seconds between looks at the file."""
GRACE = 1.5
"""Seconds that the command gets to end after a SIGTERM."""
TABLES = (
    ("sessions", "id", False),
    ("messages", "id", False),
    ("async_delegations", "delegation_id", True),
    ("sessions", "id", True),
)
"""What is told in which order, with the column that names a row and whether changes are told
too: a session stands before its messages, and its end after them."""
LEFT_OUT = frozenset({"system_prompt", "reasoning_details", "codex_reasoning_items", "api_content"})
LONGEST = 200_000
"""Characters of one value; what is longer is cut and ends in an ellipsis."""


class Rows:
    """What the database holds, told once for each state of a row."""

    def __init__(self, database: Path, out: Path) -> None:
        self._database = database
        out.parent.mkdir(parents=True, exist_ok=True)
        self._out = out.open("a", encoding="utf-8")
        self._told: dict[tuple[str, Any], str] = {}
        self._latest = 0

    def say(self, **what: Any) -> None:
        """One line, now."""
        self._out.write(json.dumps({"t": time.time(), **what}, default=str) + "\n")
        self._out.flush()

    def look(self) -> None:
        """Tell what is new; a file that is not there or is busy is looked at next time."""
        if not self._database.is_file():
            return
        with (
            contextlib.suppress(sqlite3.Error),
            contextlib.closing(
                sqlite3.connect(f"file:{self._database}?mode=ro", uri=True, timeout=0.2)
            ) as connection,
        ):
            connection.row_factory = sqlite3.Row
            for table, name, changed in TABLES:
                with contextlib.suppress(sqlite3.Error):
                    self._table(connection, table, name, changed)

    def _table(self, connection: sqlite3.Connection, table: str, name: str, changed: bool) -> None:
        query = f"SELECT * FROM {table}"
        given: tuple[int, ...] = ()
        if table == "messages":  # They are only added.
            query, given = f"{query} WHERE id > ? ORDER BY id", (self._latest,)
        for found in connection.execute(query, given):
            row = {key: _short(found[key]) for key in found.keys() if key not in LEFT_OUT}  # noqa: SIM118
            if table == "messages":
                self._latest = row["id"]
            text = json.dumps(row, default=str)
            known = self._told.get((table, row[name]))
            if known is None or (changed and known != text):
                begins = known is None and table == "sessions" and row["ended_at"]
                self._told[table, row[name]] = "" if begins else text
                self.say(table=table, row=row)


def _short(value: Any) -> Any:
    return f"{value[:LONGEST]}…" if isinstance(value, str) and len(value) > LONGEST else value


def main(argv: list[str]) -> int:
    """Start, follow, end as the command does."""
    middle = argv.index("--")
    (version_of, database, out, *limits), command = argv[:middle], argv[middle + 1 :]
    rows = Rows(Path(database), Path(out))
    told = subprocess.run(
        shlex.split(version_of), capture_output=True, text=True, timeout=60, check=False
    )
    rows.say(type="client/version", version=told.stdout.strip()[:64])
    for name, _, value in (limit.partition("=") for limit in limits):
        rows.say(type="client/limit", name=name, value=int(value))
    running = subprocess.Popen(command)
    asked: list[float] = []

    def ask(*_: object) -> None:
        asked.append(time.monotonic())
        running.terminate()

    signal.signal(signal.SIGTERM, ask)
    while running.poll() is None:
        rows.look()
        if asked and time.monotonic() > asked[0] + GRACE:
            running.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            running.wait(POLL)
    rows.look()
    rows.say(type="client/exit", code=running.returncode)
    if running.returncode < 0:
        signal.signal(-running.returncode, signal.SIG_DFL)
        os.kill(os.getpid(), -running.returncode)
    return running.returncode


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
