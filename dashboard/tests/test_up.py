"""`up` as a person runs it: starts, stops, comes back, leaves nothing."""

from __future__ import annotations

import re
import signal
import threading
import time
import urllib.request
from pathlib import Path

import psutil
import pytest

from dashboard.tests.instance import PARTS, Up, all_gone, started

__all__ = ["started"]

pytestmark = pytest.mark.slow


def test_it_stops_on_sigint_where_that_was_ignored_and_moves_from_a_taken_port(
    started: Up, tmp_path: Path
) -> None:
    port = started.address.rstrip("/").rpartition(":")[2]
    other = Up(tmp_path / "other", "--port", port, ignore_sigint=True)
    other.wait_for(f"Port {port} is taken")
    assert f":{port}/" not in other.wait_for("Lifeline is at")
    other.process.send_signal(signal.SIGINT)
    assert other.process.wait(30) == 0
    assert all_gone(tmp_path / "other")


def test_it_leaves_nothing_when_it_is_killed(started: Up) -> None:
    url = (started.var / "instance.json").read_text()
    started.process.kill()
    assert all_gone(started.var)
    folder = re.search(r"@(/[^/]+/ll-[^/]+)/", url)
    assert folder is None or not Path(folder[1]).exists()


def test_it_starts_again_what_died_and_stops_all_of_it(started: Up) -> None:
    assert set(started.parts) == PARTS
    for name in PARTS & {"web", "redis", "runs"}:
        started.parts[name].kill()
        started.wait_for("starting it again")
    until = time.monotonic() + 60
    while not (set(started.parts) == PARTS and well(started.address)):
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
