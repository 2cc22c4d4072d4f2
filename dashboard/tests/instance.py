"""A running `up` for tests: real processes, a state folder of its own."""

from __future__ import annotations

import json
import os
import queue
import re
import secrets
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

BASE = Path(__file__).resolve().parent.parent.parent
PATIENCE = 90
PARTS = {"redis", "web", "runs", "upkeep", "guard"}
if os.environ.get("LIFELINE_TEST_REDIS_URL"):
    PARTS -= {"redis"}


class Up:
    """A running `up` with its lines."""

    def __init__(
        self,
        var: Path,
        *arguments: str,
        ignore_sigint: bool = False,
        env: dict[str, str] | None = None,
    ) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "up", *(arguments or ("--port", "0"))],
            cwd=BASE,
            env=env or environment(var),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
            preexec_fn=(lambda: signal.signal(signal.SIGINT, signal.SIG_IGN) and None)
            if ignore_sigint
            else None,
        )
        self.var = var
        self.lines: list[str] = []
        self._queue: queue.Queue[str] = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            self._queue.put(line)
        self._queue.put("")

    def wait_for(self, pattern: str) -> str:
        until = time.monotonic() + PATIENCE
        while time.monotonic() < until:
            line = self._queue.get(timeout=PATIENCE)
            self.lines.append(line)
            if re.search(pattern, line):
                return line
            assert line, f"up ended: {''.join(self.lines)}"
        raise AssertionError("".join(self.lines))

    @property
    def parts(self) -> dict[str, psutil.Process]:
        names = {"-A": "", "daphne": "web", "valkey-server": "redis", "afterwards.py": "guard"}
        found = {}
        for child in psutil.Process(self.process.pid).children():
            try:
                words = " ".join(child.cmdline())
            except psutil.Error:  # it ended just now
                continue
            queues = re.search(r"-Q (\w+)", words)
            name = queues[1] if queues else next((v for k, v in names.items() if k in words), "")
            if name:  # a zombie has no words
                found[name] = child
        return found

    @property
    def address(self) -> str:
        return str(json.loads((self.var / "instance.json").read_text())["address"])

    def call(self, path: str, body: dict[str, Any] | None = None) -> Any:
        """A request to the API; patient while the web server comes back."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(
            f"{self.address}api/{path}", data, {"Content-Type": "application/json"}
        )
        until = time.monotonic() + PATIENCE
        while True:
            try:
                with urllib.request.urlopen(request, timeout=10) as reply:
                    return json.load(reply)
            except urllib.error.HTTPError:
                raise
            except OSError:
                if time.monotonic() > until or body is not None:
                    raise
                time.sleep(0.2)

    def start(self, scenario: str, **options: Any) -> str:
        """Start a run of the reference agent; gives its permalink."""
        sets = {f"agents.reference.{key}": value for key, value in options.items()}
        made = self.call("runs", {"agent": "reference", "scenario": scenario, "sets": sets})
        return str(made["runs"][0]["permalink"])

    def run_until(self, permalink: str, ready: Any) -> dict[str, Any]:
        """Ask for the run until `ready(run)`; gives it."""
        until = time.monotonic() + PATIENCE
        while True:
            run: dict[str, Any] = self.call(f"runs/{permalink}")
            if ready(run):
                return run
            assert time.monotonic() < until, run
            time.sleep(0.2)

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.terminate()
            self.process.wait(30)


def environment(var: Path) -> dict[str, str]:
    """What `up` gets: nothing of this test run but where its own state is.

    With DATABASE_URL (the suite's pass on PostgreSQL) it gets a database of its own there,
    and the real Redis.
    """
    strange = ("LIFELINE_", "DJANGO_", "REDIS_", "DATABASE_")
    env = {key: value for key, value in os.environ.items() if not key.startswith(strange)}
    env |= {"LIFELINE_VAR": str(var), "LIFELINE_CONCURRENCY": "1"}
    database = os.environ.get("DATABASE_URL", "")
    if database.startswith("postgres"):
        env["DATABASE_URL"] = _fresh_database(database)
    if os.environ.get("LIFELINE_TEST_REDIS_URL"):
        env["REDIS_URL"] = (
            f"{os.environ['LIFELINE_TEST_REDIS_URL']}?db={secrets.randbelow(999) + 1}"
        )
    return env


def _fresh_database(url: str) -> str:
    import psycopg

    name = f"up_{secrets.token_hex(4)}"
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"{url.rpartition('/')[0]}/{name}"


def all_gone(var: Path) -> bool:
    """Whether no process has this state folder in its environment."""

    def mine(process: psutil.Process) -> bool:
        try:
            return process.environ().get("LIFELINE_VAR") == str(var)
        except psutil.Error:
            return False

    until = time.monotonic() + 20
    while time.monotonic() < until:
        if not any(mine(process) for process in psutil.process_iter()):
            return True
        time.sleep(0.2)
    return False


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Up]:
    """An `up` that answers; whatever the test did to it, nothing of it is left."""
    up = Up(tmp_path / "var")
    up.wait_for("Lifeline is at")
    yield up
    up.stop()
    assert all_gone(tmp_path / "var"), "something was left running"
