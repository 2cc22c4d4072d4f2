"""What judging costs grows with a log, and not with its square: logs may be long, or hostile."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from runs.core.events import Kind
from runs.core.history import History
from runs.core.judge import judge
from runs.core.true_end import true_end
from runs.tests.core.build import Told


def _children(count: int, told: Told | None = None) -> Told:
    told = told or Told().begin()
    for number in range(count):
        told.add(Kind.AGENT_STARTED, f"c{number}", parent="root", role="x")
    return told.at(1)


def _left_open(count: int) -> Told:
    return _children(count)


def _told_together(count: int) -> Told:
    told = _children(count)
    for number in range(count):
        told.ends(f"c{number}")
    for number in range(count):
        told.tells(f"c{number}", batch="b")
    return told.shuts(9)


def _left_out_of_hooks(count: int) -> Told:
    told = Told().begin().view("hooks", "hooks.jsonl")
    told.add(Kind.AGENT_STARTED, "h", parent="root", role="y").view("session", "events.jsonl")
    return _children(count, told).shuts(9)


def _cancelled_again_and_again(count: int) -> Told:
    told = Told().begin()
    for number in range(count):
        told.at(number / 10).add(Kind.CANCEL_REQUESTED, target="root", by="user")
    return told.shuts(count)


def _loaded_again_and_again(count: int) -> Told:
    told = _children(1)
    for number in range(count):
        told.at(1 + number / 1000).add(Kind.SESSION_RESUMED)
    return told.shuts(9)


def _worked_and_left(count: int) -> Told:
    told = Told().begin()
    for number in range(count):
        told.spawn(f"c{number}").says(f"c{number}")
    return told


def _worked_and_left_open(count: int) -> Told:
    return _worked_and_left(count).shuts(9999)


def _worked_and_not_over(count: int) -> Told:
    told = _worked_and_left(count)
    for number in range(count):
        told.request(f"child:{number + 1}", agent=f"c{number}")
    return told.at(9999).add(Kind.OTHER).add(Kind.DAMAGE, "", what="truncated")


def _loaded_again_above_many(count: int) -> Told:
    told = _worked_and_left(count)
    for number in range(count):
        told.at(1000 + 10 * number).says("root").at(told.now + 9).add(Kind.SESSION_RESUMED)
    return told.shuts(told.now + 9999)


def _run_again_and_again(count: int) -> Told:
    told = Told().begin().spawn("A")
    for number in range(count):
        told.at(number).request("child:1", agent="A").says("A").ends("A").tells("A")
        told.add(Kind.AGENT_RESUMED, "A", by="root").says("A", 5)
    return told.shuts(count)


def _one_below_the_other(count: int) -> Told:
    told, above = Told().begin(), "root"
    for number in range(count):
        told.spawn(f"c{number}", parent=above).errs(f"c{number}").ends(f"c{number}")
        above = f"c{number}"
    return told.shuts(9)


def _ends_in_other_files(count: int) -> Told:
    told = Told().begin().at(1)
    for number in range(count):
        told.spawn(f"c{number}").says(f"c{number}")
    for number in range(count):
        told.view("stdout", f"{number}.jsonl").ends(f"c{number}")
    told.view("session", "events.jsonl").at(5)
    for number in range(count):
        told.says(f"c{number}")
    return told.shuts(9)


def _cancelled_each(count: int) -> Told:
    told = Told().begin()
    for number in range(count):
        told.at(number).spawn(f"c{number}").add(Kind.CANCEL_REQUESTED, target=f"c{number}")
        told.ends(f"c{number}", "cancelled").tells(f"c{number}", "cancelled")
    return told.shuts(count)


def counted(work: Callable[[], object]) -> int:
    """How many functions are called to do it."""
    calls = 0

    def count(frame: Any, what: str, argument: Any) -> None:
        nonlocal calls
        calls += what in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        work()
    finally:
        sys.setprofile(before)
    return calls


def _calls(told: Told) -> int:
    """How many functions are called to judge it."""

    def work() -> None:
        history = History(told.events)
        judge(history)
        for agent in history.agents.values():
            true_end(history, agent)

    return counted(work)


@pytest.mark.parametrize(
    "tell",
    [
        _left_open,
        _told_together,
        _left_out_of_hooks,
        _cancelled_again_and_again,
        _loaded_again_and_again,
        _worked_and_left_open,
        _worked_and_not_over,
        _loaded_again_above_many,
        _run_again_and_again,
        _one_below_the_other,
        _ends_in_other_files,
        _cancelled_each,
    ],
)
def test_judging_does_not_grow_with_the_square_of_a_log(tell: Callable[[int], Told]) -> None:
    _calls(tell(2))
    few, many = _calls(tell(100)), _calls(tell(800))
    assert many < 2 * 8 * few
