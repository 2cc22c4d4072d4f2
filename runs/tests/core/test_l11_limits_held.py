"""L11: limits hold, and slots come back."""

from __future__ import annotations

from typing import Any

from runs.core.events import Kind
from runs.tests.core.build import Told, answers


def _limited(value: Any = 2) -> Told:
    return Told().begin().add(Kind.LIMIT, "", name="max_threads", value=value)


def _refused(told: Told, refusal: str = "limit") -> Told:
    return told.add(Kind.SPAWN_REQUESTED, call="c").add(
        Kind.SPAWN_ANSWERED, call="c", ok=False, refusal=refusal
    )


def test_it_is_broken_by_a_refusal_while_slots_are_free() -> None:
    told = _limited().spawn("A").at(1).ends("A").spawn("B").at(2).ends("B").at(3)
    assert answers(_refused(told), "L11")[0] == "broken:slots_leaked"


def test_it_knows_leaked_slots_by_their_picture_where_no_reason_is_given() -> None:
    told = _limited(2.0).spawn("A").at(1).ends("A").spawn("B").at(2).ends("B").at(3)
    assert answers(_refused(told, "error"), "L11")[0] == "broken:slots_leaked"
    told = _limited().spawn("A").at(1).ends("A").at(3)
    assert answers(_refused(told, "error"), "L11") == ["holds"]


def test_it_holds_when_all_slots_are_taken() -> None:
    assert answers(_refused(_limited().spawn("A").spawn("B").at(1)), "L11") == ["holds", "holds"]


def test_it_needs_no_limit_to_see_a_refusal_with_nothing_running() -> None:
    assert answers(_refused(Told().begin()), "L11") == ["broken:slots_leaked"]
    assert answers(_refused(Told().begin().spawn("A").at(1)), "L11") == ["unknown"]


def test_it_is_broken_by_too_many_at_once_and_by_too_deep_a_tree() -> None:
    told = _limited(1).spawn("A").spawn("B")
    assert answers(told, "L11") == ["broken:limit_exceeded"]
    told = Told().begin().add(Kind.LIMIT, "", name="max_depth", value=1)
    assert answers(told.spawn("A").spawn("B", parent="A"), "L11") == ["broken:limit_exceeded"]


def test_it_does_not_take_other_limits_for_its_own() -> None:
    told = Told().begin().add(Kind.LIMIT, "", name="max_turns", value=1).spawn("A").spawn("B")
    assert answers(told, "L11") == ["unknown"]


def test_an_end_that_another_clock_puts_just_before_the_refusal_may_have_come_after_it() -> None:
    def refused(ended: float) -> list[str]:
        told = _limited(1).spawn("A").at(ended).view("stdout", "a.jsonl").ends("A")
        return answers(_refused(told.view("session", "events.jsonl").at(3)), "L11")

    assert refused(2.9) == ["holds", "holds"]
    assert refused(1.0)[0] == "broken:slots_leaked"


def test_a_refusal_at_the_limit_of_depth_is_just_whatever_its_words() -> None:
    told = Told().begin().add(Kind.LIMIT, "", name="max_depth", value=1).spawn("A").at(1)
    told.add(Kind.SPAWN_REQUESTED, "A", call="c").add(
        Kind.SPAWN_ANSWERED, "A", call="c", ok=False, refusal="error"
    )
    assert answers(told, "L11", "A") == ["holds"]


def test_a_run_whose_spawner_was_told_of_its_end_is_over_whatever_the_clocks() -> None:
    told = _limited(1).spawn("A").at(2.9).view("stdout", "a.jsonl").ends("A")
    told = told.view("session", "events.jsonl").tells("A").at(3)
    assert answers(_refused(told), "L11")[0] == "broken:slots_leaked"
