"""The real Hermes, from its package, through the one command: one version, two scenarios."""

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
VERSION = "0.19.0"
PATIENCE = 600
"""Seconds: its start alone takes ten, and many times that on a busy machine."""
Reproduce = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def reproduce(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Reproduce]:
    """Runs a scenario once for all tests that look at it; gives the command's document."""
    environment = {
        **os.environ,
        "LIFELINE_VAR": str(tmp_path_factory.mktemp("var")),
        "DATABASE_URL": "",
        "DJANGO_SETTINGS_MODULE": "dashboard.settings",
    }
    done: dict[str, dict[str, Any]] = {}

    def run(scenario: str) -> dict[str, Any]:
        if scenario not in done:
            argv = [sys.executable, "manage.py", "reproduce", f"hermes@{VERSION}", scenario]
            ended = subprocess.run(
                [*argv, "--json", "--set", f"guards.deadline={PATIENCE}"],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                timeout=PATIENCE + 300,
            )
            assert ended.returncode == 0, ended.stderr.decode(errors="replace")[-3000:]
            done[scenario] = json.loads(ended.stdout)
        return done[scenario]

    yield run


def _child(made: dict[str, Any]) -> dict[str, Any]:
    (child,) = [agent for agent in made["agents"] if agent["parent"]]
    return dict(child)


def _broken(made: dict[str, Any]) -> dict[str, Any]:
    return {one["law"]: one for one in made["findings"] if one["verdict"] == "broken"}


def test_a_child_that_answers_is_healthy(reproduce: Reproduce) -> None:
    made = reproduce("success")
    assert (made["status"], made["outcome"], made["exit_code"]) == ("ended", "completed", 0)
    assert (made["version"], made["diagnosis"], _broken(made)) == (VERSION, "healthy", {})
    child = _child(made)
    assert child["caller"] == "child:1"
    assert child["terminal"]["hooks"] == child["terminal"]["session"] == "completed"
    assert (child["told"]["status"], child["told"]["form"]) == ("completed", "tool_result")


def test_it_tries_to_leave_the_seal_by_no_name(reproduce: Reproduce) -> None:
    assert reproduce("success")["network"] == []


def test_a_child_that_was_cut_is_called_completed_and_its_parent_believes_it(
    reproduce: Reproduce,
) -> None:
    made = reproduce("sse-cut")
    assert (made["outcome"], made["exit_code"]) == ("model-request-failed", 0)
    child = _child(made)
    assert (child["true_end"], child["terminal"]["hooks"]) == ("failed", "completed")
    assert child["terminal"]["session"] == "started-only"
    broken = _broken(made)
    assert {"L2", "L3", "L16"} <= set(broken)
    assert broken["L2"]["label"] == made["diagnosis"]
    assert broken["L3"]["because"] == "L2"
    assert any(one["ref"].startswith("session-state.jsonl:") for one in broken["L3"]["evidence"])
