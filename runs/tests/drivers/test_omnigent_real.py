"""The real omnigent, from its package, through the one command: server, runner and harness."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from runs import pythons
from runs.errors import CannotRunHere

pytestmark = [pytest.mark.binary, pytest.mark.slow]

ROOT = Path(__file__).resolve().parents[3]
VERSION = "0.19.1"
PATIENCE = 600
"""Seconds: its start alone takes a minute on a busy machine."""
Reproduce = Callable[..., dict[str, Any]]


@pytest.fixture(scope="module")
def reproduce(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reproduce]:
    """Runs a scenario once for all tests that look at it; gives the command's document."""
    try:
        pythons.fitting("3.12")
    except CannotRunHere as missing:
        pytest.skip(str(missing))
    var = tmp_path_factory.mktemp("var")
    environment = {
        **os.environ,
        "LIFELINE_VAR": str(var),
        "DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "dashboard.settings",
    }
    done: dict[str, dict[str, Any]] = {}

    def run(scenario: str) -> dict[str, Any]:
        if scenario not in done:
            argv = [sys.executable, "manage.py", "reproduce", f"omnigent@{VERSION}", scenario]
            ended = subprocess.run(
                [*argv, "--json", "--set", f"guards.deadline={PATIENCE}"],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                timeout=PATIENCE + 900,
            )
            assert ended.returncode == 0, ended.stderr.decode(errors="replace")[-3000:]
            done[scenario] = json.loads(ended.stdout)
            done[scenario]["sources"] = var / "runs" / done[scenario]["permalink"] / "sources"
        return done[scenario]

    yield run


@pytest.fixture
def healthy(reproduce: Reproduce) -> dict[str, Any]:
    return reproduce("success")


@pytest.fixture
def cut(reproduce: Reproduce) -> dict[str, Any]:
    return reproduce("sse-cut")


def child(document: dict[str, Any]) -> dict[str, Any]:
    (found,) = [agent for agent in document["agents"] if agent["caller"] == "child:1"]
    return found


def broken(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {one["law"]: one for one in document["findings"] if one["verdict"] == "broken"}


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
