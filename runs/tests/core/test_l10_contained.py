"""L10: a child's trouble stays the child's."""

from __future__ import annotations

import pytest

from runs.core.events import Kind
from runs.tests.core.build import Told, answers


def _failed() -> Told:
    return Told().begin().spawn("A").at(5).errs("A").ends("A", "failed")


def test_it_holds_when_the_root_goes_on() -> None:
    assert answers(_failed().at(6).says("root").shuts(7), "L10") == ["holds"]


def test_it_is_broken_when_the_root_fails_with_its_child() -> None:
    told = _failed().at(5.2).add(Kind.TURN_ENDED, status="failed").shuts(6)
    assert answers(told, "L10") == ["broken:child_kills_parent"]


def test_it_does_not_blame_the_child_for_the_roots_own_failure() -> None:
    told = _failed().request("parent", complete=False, closed="cut")
    told.at(5.4).add(Kind.TURN_ENDED, status="failed").shuts(6)
    assert answers(told, "L10") == ["unknown"]


def test_it_is_broken_by_a_message_that_waits_for_a_child() -> None:
    told = Told().begin().spawn("A").add(Kind.TURN_ENDED).at(5)
    told.add(Kind.USER_MESSAGE, queued=True).at(60).ends("A").add(Kind.TURN_STARTED).shuts(70)
    assert answers(told, "L10") == ["broken:child_blocks_parent"]


def test_it_is_broken_by_a_root_that_takes_over_its_childs_model() -> None:
    told = Told().begin().request("parent", model="big").at(1).spawn("A")
    told.at(2).request("child:1", model="small").at(5).request("parent", model="small")
    assert answers(told, "L10") == ["broken:model_leaked"]
    told.add(Kind.MODEL_CHANGED, "root", to="small")
    assert answers(told, "L10") == ["unknown"]


def _answered(*between: tuple[Kind, dict[str, str]], model: str = "small") -> Told:
    told = Told().begin().says("root", model="big").spawn("A").at(1).says("A", model="small")
    for kind, data in between:
        told.add(kind, **data)
    return told.at(2).says("root", model=model).says("root", model=model).shuts(3)


def test_it_is_broken_by_a_root_that_is_answered_by_its_childs_model() -> None:
    told = _answered()
    assert answers(told, "L10", "root") == ["broken:model_leaked"]
    waits = Told().begin().spawn("A").at(1).says("A", model="small").at(2).says("root", model="big")
    told = waits.at(3).says("root", model="small").shuts(4)
    assert answers(told, "L10") == ["broken:model_leaked"], "its message ends after the child's"
    assert answers(_answered(model="big"), "L10") == ["unknown"]
    assert answers(_answered(model="other"), "L10") == ["unknown"]


@pytest.mark.parametrize(
    "between",
    [
        (Kind.USER_MESSAGE, {}),
        (Kind.MODEL_RETRY, {"reason": "overloaded"}),
        (Kind.TOOL_ENDED, {"call": "t", "tool": "ExitPlanMode"}),
        (Kind.MODEL_CHANGED, {"to": "small"}),
    ],
    ids=lambda row: row[0].value,
)
def test_it_lets_a_person_an_error_or_a_mode_change_the_model(
    between: tuple[Kind, dict[str, str]],
) -> None:
    assert answers(_answered(between), "L10") == ["unknown"]


def test_neither_kills_the_other_where_what_runs_them_both_was_killed() -> None:
    told = Told().begin().spawn("A").at(3)
    told.add(Kind.PART, "", part="runner", status="killed", signal=9).at(13).ends("A", "failed")
    assert answers(told.add(Kind.STATUS, status="failed").shuts(14), "L10") == ["unknown"]


def test_it_is_broken_by_a_root_that_ends_with_its_childs_error() -> None:
    told = Told().begin().at(0.1).request("parent").spawn("A").at(1)
    told.errs("A", "bad_request", http_status=400).ends("A", "failed").at(1.1)
    told.errs("root", "bad_request", http_status=400).shuts(2)
    assert answers(told, "L10") == ["broken:child_kills_parent"]


def test_it_does_not_take_an_error_of_the_roots_own_for_an_echo() -> None:
    told = Told().begin().at(0.1).request("parent", status=429).spawn("A").at(1)
    told.errs("A", "rate_limit", http_status=429).ends("A", "failed").at(1.1)
    told.errs("root", "rate_limit", http_status=429).shuts(2)
    assert answers(told, "L10") == ["unknown"]
