"""Runs inside the seal: starts Cline and, at its end, writes down what it has stored.

    python -I inside.py DATABASE ROWS COMMAND…

Cline keeps its sessions in a SQLite file, which nobody can follow as text: the rows of the
table ``sessions`` become JSON lines in ROWS when the command has ended, or was told to. The
command has our standard streams, and its exit code is ours. The standard library alone.
"""

from __future__ import annotations

import contextlib
import json
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path
from types import FrameType

GRACE = 1.5
"""Seconds that the command gets to end after a SIGTERM."""
LONGEST = 4000
"""Characters of one value."""


def main(database: str, rows: str, *command: str) -> int:
    """The command from its start to its end; gives its exit code."""
    agent = subprocess.Popen(command)

    def told(number: int, frame: FrameType | None) -> None:
        agent.terminate()
        threading.Timer(GRACE, agent.kill).start()

    signal.signal(signal.SIGTERM, told)
    code = agent.wait()
    store(Path(database), Path(rows))
    return code if code >= 0 else 128 - code


def store(database: Path, rows: Path) -> None:
    """Each row of ``sessions`` as one line; nothing where there is no such database."""
    if not database.is_file():
        return
    rows.parent.mkdir(parents=True, exist_ok=True)
    with (
        contextlib.suppress(sqlite3.Error),
        contextlib.closing(sqlite3.connect(database, timeout=1)) as connection,
        rows.open("w", encoding="utf-8") as out,
    ):
        connection.row_factory = sqlite3.Row
        order = "SELECT * FROM sessions ORDER BY is_subagent, started_at"
        for found in connection.execute(order):
            row = {name: _short(found[name]) for name in found.keys()}  # noqa: SIM118
            out.write(json.dumps({"cline_session": row}) + "\n")


def _short(value: object) -> object:
    return value[:LONGEST] if isinstance(value, str) else value


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
