"""SIGKILL in the middle of a run: no stored event is lost, no process of the agent is left."""

from __future__ import annotations

from typing import Any

import psutil
import pytest

from dashboard.tests.instance import PARTS, Up, started

__all__ = ["started"]
pytestmark = pytest.mark.slow

SLOW = {"delay": 1.5, "retries": 4}
"""Options under which the cut stream takes some ten seconds."""


def going(run: dict[str, Any]) -> bool:
    return run["status"] == "running" and run["event_count"] > 60


def ended(run: dict[str, Any]) -> bool:
    return run["status"] not in ("queued", "running")


def events(up: Up, permalink: str) -> list[int]:
    found: list[int] = []
    while page := up.call(f"runs/{permalink}/events?after={found[-1] if found else 0}")["events"]:
        found += [event["seq"] for event in page]
    return found


def agents_left(permalink: str) -> list[int]:
    """Processes whose command line names the run's folder (the seal's does)."""
    lines = [(one.pid, one.info["cmdline"] or []) for one in psutil.process_iter(["cmdline"])]
    return [pid for pid, words in lines if any(permalink in word for word in words)]


def test_a_killed_worker_loses_the_run_and_says_so(started: Up) -> None:
    permalink = started.start("sse-cut", **SLOW)
    before = started.run_until(permalink, going)
    worker = started.parts["runs"]
    for process in [*worker.children(recursive=False), worker]:
        process.kill()
    run = started.run_until(permalink, ended)
    assert run["status"] == "lost"
    assert "ended while the run was going" in run["error"]["what"]
    seen = events(started, permalink)
    assert seen == list(range(1, len(seen) + 1)) and len(seen) >= before["event_count"]
    assert agents_left(permalink) == []
    started.wait_for("starting it again")
    again = started.call(f"runs/{permalink}/again", {})["permalink"]
    assert started.run_until(again, ended)["status"] == "ended"


def test_a_killed_redis_or_web_does_not_touch_the_run(started: Up) -> None:
    permalink = started.start("sse-cut", **SLOW)
    started.run_until(permalink, going)
    for name in PARTS & {"redis", "web"}:
        started.parts[name].kill()
    run = started.run_until(permalink, ended)
    assert (run["status"], run["outcome"]) == ("ended", "model-request-failed")
    seen = events(started, permalink)
    assert seen == list(range(1, run["event_count"] + 1))
    assert agents_left(permalink) == []
    queued = started.start("success")
    assert started.run_until(queued, ended)["outcome"] == "completed"


def test_cancel_ends_the_agent(started: Up) -> None:
    permalink = started.start("sse-cut", delay=20)
    started.run_until(permalink, lambda run: run["status"] == "running" and run["event_count"] > 40)
    started.call(f"runs/{permalink}/cancel", {})
    run = started.run_until(permalink, ended)
    assert run["status"] == "cancelled"
    assert agents_left(permalink) == []
