"""The real OpenCode, from its package, through the one command.

In the version that is run a stream that ends cleanly too early makes it ask again at
once, without a pause, an event or an end: the run's own guard has to stop it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runs.tests.drivers.real import Commands, broken, child

pytestmark = [pytest.mark.binary, pytest.mark.slow]

VERSION = "1.18.33"
REQUESTS = 24
"""After so many requests the hot loop is proven."""
DEADLINE = 600
"""Seconds: its start alone takes twenty on a busy machine."""
Reproduce = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def reproduce(tmp_path_factory: pytest.TempPathFactory) -> Reproduce:
    """Runs a scenario once for all tests that look at it; gives the command's document."""
    commands = Commands(tmp_path_factory.mktemp("var"))

    def run(scenario: str, *more: str, code: int = 0) -> dict[str, Any]:
        deadline = ["--set", f"guards.deadline={DEADLINE}"]
        return commands.document(
            "reproduce", f"opencode@{VERSION}", scenario, *deadline, *more, code=code
        )

    return run


@pytest.fixture
def healthy(reproduce: Reproduce) -> dict[str, Any]:
    return reproduce("success")


@pytest.fixture
def looping(reproduce: Reproduce) -> dict[str, Any]:
    return reproduce("sse-cut", "--set", f"guards.requests={REQUESTS}", code=1)


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
