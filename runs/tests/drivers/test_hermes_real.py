"""The real Hermes, from its package, through the one command: one version, two scenarios."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from runs.tests.drivers.real import Commands, broken, child

pytestmark = [pytest.mark.binary, pytest.mark.slow]

VERSION = "0.19.0"
DEADLINE = 600
"""Seconds: its start alone takes ten, and many times that on a busy machine."""
Reproduce = Callable[[str], dict[str, Any]]


@pytest.fixture(scope="module")
def reproduce(tmp_path_factory: pytest.TempPathFactory) -> Reproduce:
    """Runs a scenario once for all tests that look at it; gives the command's document."""
    commands = Commands(tmp_path_factory.mktemp("var"))

    def run(scenario: str) -> dict[str, Any]:
        deadline = ["--set", f"guards.deadline={DEADLINE}"]
        return commands.document("reproduce", f"hermes@{VERSION}", scenario, *deadline)

    return run


def test_a_child_that_answers_is_healthy(reproduce: Reproduce) -> None:
    made = reproduce("success")
    assert (made["status"], made["outcome"], made["exit_code"]) == ("ended", "completed", 0)
    assert (made["version"], made["diagnosis"], broken(made)) == (VERSION, "healthy", {})
    found = child(made)
    assert found["caller"] == "child:1"
    assert found["terminal"]["hooks"] == found["terminal"]["session"] == "completed"
    assert (found["told"]["status"], found["told"]["form"]) == ("completed", "tool_result")


def test_it_tries_to_leave_the_seal_by_no_name(reproduce: Reproduce) -> None:
    assert reproduce("success")["network"] == []


def test_a_child_that_was_cut_is_called_completed_and_its_parent_believes_it(
    reproduce: Reproduce,
) -> None:
    made = reproduce("sse-cut")
    assert (made["outcome"], made["exit_code"]) == ("model-request-failed", 0)
    found = child(made)
    assert (found["true_end"], found["terminal"]["hooks"]) == ("failed", "completed")
    assert found["terminal"]["session"] == "started-only"
    laws = broken(made)
    assert {"L2", "L3", "L16"} <= set(laws)
    assert laws["L2"]["label"] == made["diagnosis"]
    assert laws["L3"]["because"] == "L2"
    assert any(one["ref"].startswith("session-state.jsonl:") for one in laws["L3"]["evidence"])
