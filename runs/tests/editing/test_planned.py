"""The drawing shows what is planned: who is called when, and what is broken where."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.fault import aim
from fakes.script import make_script
from runs import catalogue
from runs.planned import Plan, Row, plan


def _plan(script: str, settings: dict[str, Any], *faults: dict[str, Any]) -> Plan:
    return plan(make_script(script, settings), [aim(fault) for fault in faults])


def _row(drawn: Plan, caller: str) -> Row:
    return next(row for row in drawn.rows if row.caller == caller)


def _tones(row: Row) -> list[str]:
    return [cell.box.tone if cell.box else cell.kind for cell in row.cells]


def test_it_draws_every_shipped_scenario_with_each_fault_somewhere() -> None:
    for scenario in catalogue.scenarios().values():
        drawn = plan(catalogue.build_script(scenario), catalogue.build_faults(scenario))
        assert drawn.rows, scenario.name
        assert drawn.missed == (), scenario.name


def test_it_draws_two_cuts_and_the_try_that_may_follow() -> None:
    on = {"caller": "child:2", "attempt": "1-2"}
    drawn = _plan("delegate-many", {"children": 2}, {"fault": "sse-cut", "on": on})
    assert _tones(_row(drawn, "child:1")) == ["idle", "ok", "idle"]
    assert _tones(_row(drawn, "child:2")) == ["idle", "cut", "cut", "ok", "idle"]


def test_it_puts_the_parents_report_after_all_that_it_waits_for() -> None:
    drawn = _plan("delegate-one", {}, {"fault": "sse-cut", "on": {"attempt": "1-5"}})
    parent, child = _row(drawn, "parent"), _row(drawn, "child:1")
    report = sum(cell.span for cell in parent.cells[:-1])
    ended = sum(cell.span for cell in child.cells if cell.kind != "idle" or cell is child.cells[0])
    assert parent.cells[-1].box and parent.cells[-1].box.does == "reports"
    assert report >= ended == 7


def test_it_draws_calls_after_an_endless_failure_as_not_reached() -> None:
    on = {"caller": "child", "attempt": "all", "turn": 1}
    drawn = _plan("child-tool", {}, {"fault": "sse-cut", "on": on})
    assert _tones(_row(drawn, "child:1")) == [
        "idle",
        "cut",
        "cut",
        "cut",
        "more",
        "unreached",
        "idle",
    ]


def test_it_draws_a_late_answer_as_whole_and_a_drawn_lot_as_maybe() -> None:
    late = _plan("delegate-one", {}, {"fault": "slow-first-byte"})
    assert _tones(_row(late, "child:1")) == ["idle", "late", "idle"]
    some = _plan("delegate-one", {}, {"fault": "sse-cut", "on": {"share": 0.3, "attempt": 1}})
    assert _tones(_row(some, "child:1")) == ["idle", "maybe", "ok", "idle"]


def test_it_says_which_fault_strikes_nothing_that_is_planned() -> None:
    drawn = _plan("delegate-one", {}, {"fault": "sse-cut", "on": {"caller": "child:7"}})
    assert drawn.missed == (0,)


@pytest.mark.parametrize(
    ("script", "settings", "least"),
    [("delegate-many", {"children": 64}, 41), ("nested", {"depth": 8, "children": 4}, 80_000)],
)
def test_it_says_how_many_callers_it_leaves_out(
    script: str, settings: dict[str, Any], least: int
) -> None:
    assert _plan(script, settings).left >= least


def test_it_orders_callers_as_their_script_does() -> None:
    drawn = _plan("delegate-many", {"order": ["child:1 after child:2 answered"]})
    first, second = _row(drawn, "child:1"), _row(drawn, "child:2")
    assert first.cells[0].span == second.cells[0].span + 1
