"""The real OpenCode, from its package, through the one command.

In the version that is run a stream that ends cleanly too early makes it ask again at
once, without a pause, an event or an end: the run's own guard has to stop it.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.binary, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[3]
VERSION = "1.18.33"
REQUESTS = 24
"""After so many requests the hot loop is proven."""
PATIENCE = 600
"""Seconds: its start alone takes twenty on a busy machine."""
Reproduce = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def reproduce(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reproduce]:
    """Runs a scenario once for all tests that look at it; gives the command's document."""
    var = tmp_path_factory.mktemp("var")
    environment = {
        **os.environ,
        "LIFELINE_VAR": str(var),
        "DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "dashboard.settings",
    }
    done: dict[str, dict[str, Any]] = {}

    def run(scenario: str, *more: str, code: int = 0) -> dict[str, Any]:
        if scenario not in done:
            argv = [sys.executable, "manage.py", "reproduce", f"opencode@{VERSION}", scenario]
            ended = subprocess.run(
                [*argv, "--json", "--set", f"guards.deadline={PATIENCE}", *more],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                timeout=PATIENCE + 300,
            )
            assert ended.returncode == code, ended.stderr.decode(errors="replace")[-3000:]
            done[scenario] = json.loads(ended.stdout)
        return done[scenario]

    yield run


@pytest.fixture
def healthy(reproduce: Reproduce) -> dict[str, Any]:
    return reproduce("success")


@pytest.fixture
def looping(reproduce: Reproduce) -> dict[str, Any]:
    return reproduce("sse-cut", "--set", f"guards.requests={REQUESTS}", code=1)


def child(document: dict[str, Any]) -> dict[str, Any]:
    (found,) = [agent for agent in document["agents"] if agent["caller"] == "child:1"]
    return found


def broken(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["law"]: one for one in document["findings"] if one["verdict"] == "broken"}


def test_it_finds_a_healthy_run_healthy(healthy: dict[str, Any]) -> None:
    assert healthy["outcome"] == "completed"
    assert healthy["diagnosis"] == "healthy"
    assert healthy["exit_code"] == 0
    assert broken(healthy) == {}
    found = child(healthy)
    assert found["terminal"] == {"stdout": "completed", "session": "completed"}
    assert found["told"]["status"] == "completed"
    assert found["role"] == "general"
    callers = {one["caller"] for one in healthy["attempts"]}
    assert callers == {"utility", "parent", "child:1"}


def test_it_finds_that_a_stream_cut_cleanly_is_asked_for_again_without_end(
    looping: dict[str, Any],
) -> None:
    assert looping["outcome"] == "guard-request-cap"
    assert looping["diagnosis"] in ("endless_retry", "retry_storm")
    tries = [one for one in looping["attempts"] if one["caller"] == "child:1"]
    assert len(tries) > REQUESTS // 2
    assert {one["fault"] for one in tries if one["fault"]} == {"sse-cut"}
    assert not any(one["complete"] for one in tries)
    assert looping["retry"]["reported"] == {"retries": None, "sleep": None}
    assert child(looping)["told"] is None
    labels = ("endless_retry", "retry_storm")
    finding = next(one for one in looping["findings"] if one["label"] in labels)
    assert len(finding["evidence"]) >= 3
    assert all(one["ref"].startswith("provider.jsonl:") for one in finding["evidence"][:3])


@pytest.mark.parametrize("scenario", ["healthy", "looping"])
def test_it_runs_what_was_asked_for_and_keeps_what_it_stored(
    scenario: str, request: pytest.FixtureRequest
) -> None:
    document = request.getfixturevalue(scenario)
    assert document["status"] == "ended"
    assert document["version"] == VERSION
    assert len(document["sha256"]) == 64
    assert document["tools"]["executed"] == {"task": 1}
    assert child(document)["parent"] == document["agents"][0]["id"]
