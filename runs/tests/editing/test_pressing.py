"""A press on the drawing breaks one attempt, or mends it, and leaves the rest as it was."""

from __future__ import annotations

from typing import Any

import pytest

from runs.editing import Spot, break_here, mend_here

TREE: dict[str, Any] = {"name": "x", "settings": {"children": 2}}


def _at(place: str) -> Spot:
    spot = Spot.read(place)
    assert spot
    return spot


def test_it_breaks_a_call_and_stretches_the_fault_over_the_next_try() -> None:
    once, first = break_here(TREE, _at("child:2/0/1"))
    twice, second = break_here(once, _at("child:2/0/2"))
    assert (first, second) == (0, 0)
    assert once["faults"] == [{"fault": "sse-cut", "on": {"caller": "child:2", "attempt": 1}}]
    assert twice["faults"] == [{"fault": "sse-cut", "on": {"caller": "child:2", "attempt": "1-2"}}]
    assert "faults" not in TREE


def test_it_breaks_another_caller_or_call_with_a_fault_of_its_own() -> None:
    tree, _ = break_here(TREE, _at("child:1/0/1"))
    tree["faults"][0] |= {"fault": "stall", "seconds": 3.0}
    tree, number = break_here(tree, _at("child:2/2/2"))
    assert number == 1
    assert tree["faults"][1] == {
        "fault": "stall",
        "seconds": 3.0,
        "on": {"caller": "child:2", "attempt": 2, "turn": 2},
    }


@pytest.mark.parametrize(
    ("before", "attempt", "after"),
    [
        ("1-3", 3, "1-2"),
        ("1-3", 2, 1),
        ("all", 2, 1),
        ("2-", 4, "2-3"),
        (2, 2, None),
        ("2-3", 2, None),
    ],
)
def test_it_mends_an_attempt_and_those_after_it(before: Any, attempt: int, after: Any) -> None:
    tree = {**TREE, "faults": [{"fault": "stall", "on": {"caller": "child", "attempt": before}}]}
    mended = mend_here(tree, _at(f"child/0/{attempt}"), 0)
    if after is None:
        assert "faults" not in mended
    else:
        assert mended["faults"][0]["on"]["attempt"] == after


@pytest.mark.parametrize(
    "place", ["", "child:2", "child:2/1", "nobody/1/1", "child/1/1/1", "child/x/1"]
)
def test_it_takes_no_other_word_for_a_place(place: str) -> None:
    assert Spot.read(place) is None
