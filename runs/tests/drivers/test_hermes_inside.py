"""The program that runs inside, as a process, beside a real SQLite file."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from runs.core.events import Kind
from runs.drivers.hermes import chat
from runs.transcript import named

WRITER = """
import sqlite3, sys, time
connection = sqlite3.connect(sys.argv[1])
connection.execute("PRAGMA journal_mode=WAL")
connection.execute("CREATE TABLE sessions (id TEXT, system_prompt TEXT, ended_at REAL)")
connection.execute("CREATE TABLE messages (id INTEGER, session_id TEXT, content TEXT)")
connection.execute("INSERT INTO sessions VALUES ('s', 'long', NULL)")
connection.execute("INSERT INTO messages VALUES (1, 's', 'first')")
connection.commit()
time.sleep(1)
connection.execute("INSERT INTO messages VALUES (2, 's', 'last')")
connection.execute("UPDATE sessions SET ended_at = 1.5")
connection.execute("INSERT INTO sessions VALUES ('t', '', 2.5)")
connection.execute("INSERT INTO messages VALUES (3, 't', 'quick')")
connection.commit()
print("said", flush=True)
sys.exit(int(sys.argv[2]))
"""


def run(folder: Path, code: int = 0) -> tuple[subprocess.CompletedProcess[str], list[Any]]:
    """Follows the writer above; gives how it ended and what was told."""
    database, rows = folder / "state.db", folder / "rows.jsonl"
    version = f"{sys.executable} -c 'print(7)'"
    argv = [sys.executable, "-I", "-S", str(chat.OWN / "inside.py"), version, str(database)]
    command = [sys.executable, "-c", WRITER, str(database), str(code)]
    done = subprocess.run(
        [*argv, str(rows), "--", *command], capture_output=True, text=True, timeout=60
    )
    return done, [json.loads(line) for line in rows.read_text().splitlines()]


def test_it_tells_rows_as_they_come_and_ends_as_the_command_does(tmp_path: Path) -> None:
    done, told = run(tmp_path, code=3)
    assert (done.returncode, done.stdout) == (3, "said\n")
    assert told[0]["type"] == "client/version"
    assert told[0]["version"] == "7"
    assert told[-1]["type"] == "client/exit"
    rows = [(one["table"], one["row"]["id"], one["row"].get("ended_at")) for one in told[1:-1]]
    assert rows[:2] == [("sessions", "s", None), ("messages", 1, None)]
    assert [row for row in rows if rows.count(row) > 1] == [("sessions", "t", 2.5)] * 2


def test_it_tells_the_limits_that_it_is_given(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    argv = [sys.executable, "-I", "-S", str(chat.OWN / "inside.py"), "true", str(tmp_path / "no")]
    subprocess.run([*argv, str(rows), "max_spawn_depth=2", "--", "true"], timeout=60, check=True)
    _, limit, _ = (json.loads(line) for line in rows.read_text().splitlines())
    assert (limit["type"], limit["name"], limit["value"]) == ("client/limit", "max_spawn_depth", 2)
    (draft,) = named("hermes-state-rows").reader("x").feed(json.dumps(limit).encode() + b"\n", 1, 0)
    assert (draft.kind, draft.data) == (Kind.LIMIT, {"name": "max_spawn_depth", "value": 2})


def test_the_end_of_a_session_stands_after_its_messages(tmp_path: Path) -> None:
    _, told = run(tmp_path)
    rows = [(one["row"]["id"], one["row"].get("ended_at")) for one in told[1:-1]]
    assert rows.index((2, None)) < rows.index(("s", 1.5))
    assert rows.index(("t", 2.5)) < rows.index((3, None)) < len(rows) - 1
    assert rows[-1] in {("s", 1.5), ("t", 2.5)}


def test_it_leaves_out_what_repeats_the_prompt(tmp_path: Path) -> None:
    _, told = run(tmp_path)
    assert not any("system_prompt" in one.get("row", {}) for one in told)


def test_a_command_without_a_database_is_no_trouble(tmp_path: Path) -> None:
    rows = tmp_path / "rows.jsonl"
    argv = [sys.executable, "-I", "-S", str(chat.OWN / "inside.py"), "true", str(tmp_path / "no")]
    done = subprocess.run([*argv, str(rows), "--", "true"], timeout=60)
    assert done.returncode == 0
    assert len(rows.read_text().splitlines()) == 2
