"""The outcome is the first row of one ordered table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from runs.core.events import Kind
from runs.core.outcome import OUTCOMES, Facts, facts, outcome, public_outcome
from runs.tests.core.build import Told


@dataclass
class _Ran:
    version: str = ""
    problem: str = ""


def _outcome(told: Told, **settings: Any) -> str:
    return outcome(_facts(told, **settings))


def _facts(told: Told, **settings: Any) -> Facts:
    defaults: dict[str, Any] = {
        "requested_version": "1.0.0",
        "runtime": _Ran(),
        "allowed_tools": {"task"},
        "executed_tools": {},
        "delivered": True,
    }
    return facts(told.history(), **(defaults | settings))


def _run(complete: bool = True, terminal: str = "completed") -> Told:
    told = Told().begin().request("parent", tools=["task"]).spawn("A").at(1)
    told.request("child:1", complete=complete, closed="ended" if complete else "cut").at(2)
    return told.ends("A", terminal) if terminal else told


@pytest.mark.parametrize(
    ("told", "settings", "expected"),
    [
        (_run(), {}, "completed"),
        (_run(complete=False), {}, "model-request-failed"),
        (_run(terminal=""), {}, "no-terminal-event"),
        (Told().begin().request("parent"), {}, "no-subagent-request"),
        (Told().begin(), {"delivered": False}, "invalid-fault-not-delivered"),
        (_run(), {"executed_tools": {"bash": 1}}, "invalid-tool-call"),
        (_run(), {"allowed_tools": {"read"}}, "invalid-tool-surface"),
        (
            _run(),
            {"requested_version": "1.0.9", "runtime": _Ran("1.0.8")},
            "invalid-runtime-version",
        ),
        (_run(), {"runtime": _Ran(problem="no payload")}, "invalid-runtime-evidence"),
        (_run().add(Kind.DAMAGE, "", what="not-json"), {}, "invalid-event-evidence"),
        (Told(), {}, "startup-failed"),
        (_run().add(Kind.GUARD, "", guard="timeout"), {}, "timeout"),
        (_run().add(Kind.GUARD, "", guard="guard-output-cap"), {}, "guard-output-cap"),
    ],
)
def test_it_names_what_the_run_came_to(told: Told, settings: dict[str, Any], expected: str) -> None:
    assert _outcome(told, **settings) == expected


def test_the_order_is_that_of_the_public_script() -> None:
    everything = Facts(guard="timeout", started=False, damaged=True, runtime_problem="x")
    assert outcome(everything) == "timeout"
    assert OUTCOMES.index("invalid-tool-call") < OUTCOMES.index("no-subagent-request")
    assert OUTCOMES[-1] == "completed"


def test_repaired_damage_is_no_reason_to_doubt() -> None:
    told = _run().add(Kind.DAMAGE, "", what="glued", repaired=True)
    assert _outcome(told) == "completed"


def test_the_public_class_keeps_its_misjudgements() -> None:
    def public(told: Told) -> str:
        return public_outcome(_facts(told))

    claimed = _run(complete=False, terminal="failed").add(Kind.RETRY_CLAIM, "A", retries=5)
    assert public(claimed) == "model-request-failed"
    # Without a retry claim a plain failure has “no terminal”, and completed is completed.
    assert public(_run(complete=False, terminal="failed")) == "no-terminal-event"
    assert public(_run(complete=False, terminal="completed")) == "completed"
    # A failing parent counts as well, although the child completed.
    assert public(_run().add(Kind.RETRY_CLAIM, "root", retries=5)) == "model-request-failed"


def test_the_facts_carry_code_and_version() -> None:
    told = _facts(_run().exits(1, at=9), runtime=_Ran("1.0.0"))
    assert (told.exit_code, told.reported_version) == (1, "1.0.0")
