"""`up` as a person runs it: starts, stops, comes back, leaves nothing."""

from __future__ import annotations

import json
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest

BASE = Path(__file__).resolve().parent.parent.parent
PATIENCE = 90

pytestmark = pytest.mark.slow


class Up:
    """A running `up` with its lines."""

    def __init__(self, var: Path, *arguments: str, ignore_sigint: bool = False) -> None:
        env = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith(("LIFELINE_", "DJANGO_", "REDIS_", "DATABASE_"))
        }
        self.process = subprocess.Popen(
            [sys.executable, "manage.py", "up", *(arguments or ("--port", "0"))],
            cwd=BASE,
            env={**env, "LIFELINE_VAR": str(var), "LIFELINE_CONCURRENCY": "1"},
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
            words = " ".join(child.cmdline())
            queues = re.search(r"-Q (\w+)", words)
            name = queues[1] if queues else next(v for k, v in names.items() if k in words)
            found[name] = child
        return found


@pytest.fixture
def started(tmp_path: Path) -> Iterator[Up]:
    up = Up(tmp_path / "var")
    up.wait_for("Lifeline is at")
    yield up
    if up.process.poll() is None:
        up.process.kill()
    assert all_gone(tmp_path / "var"), "something was left running"


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


def test_it_stops_on_sigint_where_that_was_ignored_and_moves_from_a_taken_port(
    started: Up, tmp_path: Path
) -> None:
    port = address_of(started).rstrip("/").rpartition(":")[2]
    other = Up(tmp_path / "other", "--port", port, ignore_sigint=True)
    other.wait_for(f"Port {port} is taken")
    assert f":{port}/" not in other.wait_for("Lifeline is at")
    other.process.send_signal(signal.SIGINT)
    assert other.process.wait(30) == 0
    assert all_gone(tmp_path / "other")


def test_it_leaves_nothing_when_it_is_killed(started: Up) -> None:
    folder = Path(re.search(r"@(/[^/]+/[^/]+)/", instance_url(started))[1])  # type: ignore[index]
    started.process.kill()
    assert all_gone(started.var)
    assert not folder.exists()


def instance_url(up: Up) -> str:
    return str(json.loads((up.var / "instance.json").read_text())["redis_url"])


def address_of(up: Up) -> str:
    return str(json.loads((up.var / "instance.json").read_text())["address"])


def test_it_starts_again_what_died_and_stops_all_of_it(started: Up) -> None:
    names = {"redis", "web", "runs", "upkeep", "guard"}
    assert set(started.parts) == names
    for name in ("web", "redis", "runs"):
        started.parts[name].kill()
        started.wait_for("starting it again")
    until = time.monotonic() + 60
    while not (set(started.parts) == names and well(address_of(started))):
        assert time.monotonic() < until, started.lines
        time.sleep(0.2)
    second = Up(started.var)
    second.wait_for("already runs from this folder, at http://127.0.0.1")
    assert second.process.wait(30) == 1
    started.process.send_signal(signal.SIGTERM)
    assert started.process.wait(30) == 0
    assert not (started.var / "instance.json").exists()


def well(address: str) -> bool:
    try:
        return bool(urllib.request.urlopen(address + "healthz", timeout=2).status == 200)
    except OSError:
        return False


def test_it_gives_up_on_a_part_that_keeps_dying(started: Up) -> None:
    def kill_web() -> None:
        while started.process.poll() is None:
            try:
                web = started.parts.get("web")
                if web is not None:
                    web.kill()
            except (psutil.Error, StopIteration):
                pass
            time.sleep(0.1)

    killer = threading.Thread(target=kill_web, daemon=True)
    killer.start()
    started.wait_for("web ended 5 times within a minute")
    assert started.process.wait(30) == 1
    killer.join()


def test_it_refuses_the_open_network_without_a_token(tmp_path: Path) -> None:
    up = Up(tmp_path / "var", "--host", "0.0.0.0", "--port", "0")
    up.wait_for("LIFELINE_TOKEN is not set")
    assert up.process.wait(30) == 2
