"""The real omnigent, from its package, through the one command: server, runner and harness."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from runs.tests.drivers.real import Commands, broken, child

pytestmark = [pytest.mark.binary, pytest.mark.slow]

VERSION = "0.19.1"
DEADLINE = 600
"""Seconds: its start alone takes a minute on a busy machine."""
Reproduce = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def reproduce(tmp_path_factory: pytest.TempPathFactory) -> Reproduce:
    """Runs a scenario once for all tests that look at it; gives the command's document."""
    commands = Commands(tmp_path_factory.mktemp("var"))

    def run(scenario: str) -> dict[str, Any]:
        deadline = ["--set", f"guards.deadline={DEADLINE}"]
        return commands.document("reproduce", f"omnigent@{VERSION}", scenario, *deadline)

    return run


@pytest.fixture
def healthy(reproduce: Reproduce) -> dict[str, Any]:
    return reproduce("success")


@pytest.fixture
def cut(reproduce: Reproduce) -> dict[str, Any]:
    return reproduce("sse-cut")


def heard(document: dict[str, Any], session: str) -> list[str]:
    """The words of session.status on a session's own stream, as they stand in the raw file."""
    lines = map(json.loads, (document["sources"] / "stdout.jsonl").read_text().splitlines())
    events = [line["data"] for line in lines if line["kind"] == "sse"]
    return [
        event["status"]
        for event in events
        if event["type"] == "session.status" and event["conversation_id"] == session
    ]


def test_it_finds_a_healthy_run_healthy(healthy: dict[str, Any]) -> None:
    assert healthy["outcome"] == "completed"
    assert healthy["diagnosis"] == "healthy"
    assert healthy["exit_code"] == 0
    assert broken(healthy) == {}
    found = child(healthy)
    assert found["terminal"] == {"stdout": "completed", "session": "completed"}
    assert found["told"]["status"] == "completed"
    assert (found["role"], found["name"]) == ("worker", "lifeline-1")


def test_it_finds_that_a_stream_cut_cleanly_is_told_as_success(cut: dict[str, Any]) -> None:
    assert cut["outcome"] == "model-request-failed"
    assert cut["diagnosis"] == "truncated_success"
    assert set(broken(cut)) == {"L2", "L3", "L16"}
    found = child(cut)
    assert found["terminal"] == {"stdout": "completed", "session": "completed"}
    assert (found["told"]["status"], found["true_end"]) == ("completed", "failed")
    tries = [one for one in cut["attempts"] if one["caller"] == "child:1"]
    assert [one["fault"] for one in tries] == ["sse-cut"]
    assert not tries[0]["complete"]


@pytest.mark.parametrize("name", ["healthy", "cut"])
def test_each_thing_that_it_says_agrees_with_the_stored_lines(
    name: str, request: pytest.FixtureRequest
) -> None:
    document = request.getfixturevalue(name)
    assert (document["status"], document["version"]) == ("ended", VERSION)
    assert document["tools"]["executed"] == {"sys_session_send": 1, "sys_read_inbox": 1}
    found = child(document)
    assert heard(document, found["id"]) == ["running", "idle"]
    assert heard(document, found["parent"])[-1] == "idle"
    for finding in broken(document).values():
        for one in finding["evidence"]:
            file, _, place = one["ref"].partition(":")
            if place.isdigit():
                lines = (document["sources"] / file).read_text().splitlines()
                assert json.loads(lines[int(place) - 1])
    told = (document["sources"] / "stdout.jsonl").read_text().splitlines()
    wake = json.loads(told[int(found["told"]["ref"].partition(":")[2]) - 1])
    assert "finished (completed)" in json.dumps(wake)
