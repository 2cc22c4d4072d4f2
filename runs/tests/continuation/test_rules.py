"""Each rule of a waiting parent: kept by the owner, and found missing in one that breaks it."""

from __future__ import annotations

import pytest

from runs.core import owning as o
from runs.core.continuation import Owner
from runs.core.owner_table import TABLE
from runs.core.owning import Phase
from runs.tests.continuation.checks import Rule
from runs.tests.continuation.rules import RULES
from runs.tests.continuation.scripted import SPAWNED, WAITING, child_ends, end, play, start, stop

BY_NAME = [pytest.param(rule, id=rule.name) for rule in RULES]


@pytest.mark.parametrize("rule", BY_NAME)
def test_it_keeps_the_rule(rule: Rule) -> None:
    record = play(rule.steps)
    assert rule.check(record), f"{rule.name}: {rule.failure}: {record.wants}"


@pytest.mark.parametrize("rule", BY_NAME)
def test_it_catches_an_owner_that_breaks_the_rule(rule: Rule) -> None:
    record = play(rule.steps, breaks=rule.name)
    assert not rule.check(record), f"{rule.name} was broken and nobody saw it: {record.wants}"


def test_it_has_a_play_for_every_rule() -> None:
    assert [rule.name for rule in RULES] == [f"CL-{number}" for number in range(1, 39)]


def test_it_has_a_row_for_every_phase_and_a_step_for_every_row() -> None:
    assert set(TABLE) == set(Phase)
    for row in TABLE.values():
        for heard, step in row.items():
            assert issubclass(heard, o.Heard) and callable(getattr(Owner, step))


@pytest.mark.parametrize("rule", BY_NAME)
def test_it_leaves_by_the_one_exit_whatever_comes_last(rule: Rule) -> None:
    """CL-34 for every play: once the connection is over there is one result, and it is closed."""
    record = play([*rule.steps, o.Gone()])
    assert len(record.of(o.Finalize)) == 1
    assert len(record.of(o.Close)) == 1
    assert record.owner.phase is Phase.DONE


def test_it_takes_a_child_that_ended_before_its_spawn_was_reported() -> None:
    record = play([start("t1"), child_ends("c1"), *SPAWNED[2:], end("t1")])
    assert record.owner.phase is Phase.DONE


def test_it_takes_a_second_turn_of_a_child_for_new_work() -> None:
    again = o.ChildActive(child="c1", turn="ct2")
    record = play(
        [*SPAWNED, o.ChildActive(child="c1", turn="ct1"), child_ends("c1"), again, end("t1")]
    )
    assert record.owner.phase is Phase.WAITING


def test_it_interrupts_the_children_only_when_the_stop_cascades() -> None:
    active = o.ChildActive(child="c1", turn="ct1")
    assert [w.thread for w in play([*WAITING, active, stop(cascade=True)]).of(o.Interrupt)] == [
        "c1"
    ]
    assert play([*WAITING, active, stop()]).of(o.Interrupt) == []


def test_it_binds_a_start_that_overtook_the_end_before_it() -> None:
    record = play([*SPAWNED, start("t2"), end("t1"), end("t2"), child_ends("c1")])
    assert list(record.owner.turns) == ["t1", "t2"]
    assert record.owner.attempts[0].after == "t2"
