"""L4: no idle, result or exit while a run of its own is open."""

from __future__ import annotations

from runs.core.events import Kind
from runs.tests.core.build import Told, answers, ask


def _open() -> Told:
    return Told().begin().spawn("A").at(5).says("A").at(6)


def test_it_is_broken_by_an_idle_that_leaves_out_open_runs() -> None:
    told = _open().add(Kind.STATUS, status="idle", open=[]).at(9).tool("A").shuts(60)
    assert answers(told, "L4") == ["broken:premature_idle"]


def test_it_holds_when_the_idle_lists_them() -> None:
    told = _open().add(Kind.STATUS, status="idle", open=["A"]).at(9).ends("A").shuts(60)
    assert answers(told, "L4") == ["holds"]


def test_it_is_broken_by_a_result_and_by_an_exit() -> None:
    told = _open().add(Kind.RESULT, status="success").exits(0, at=20)
    assert answers(told, "L4") == ["broken:early_exit_children_lost"]
    assert answers(_open().exits(0, at=20), "L4") == ["broken:early_exit_children_lost"]


def test_it_takes_a_bare_idle_that_the_child_ends_as_a_wait() -> None:
    told = _open().add(Kind.STATUS, status="idle").at(9).ends("A").tells("A")
    told.at(10).add(Kind.TURN_STARTED).says("root").at(11).add(Kind.STATUS, status="idle")
    assert answers(told.shuts(12), "L4") == ["holds"]


def test_it_does_not_judge_an_inferred_idle() -> None:
    told = _open().add(Kind.STATUS, status="idle", inferred=True, open=[]).at(9).ends("A")
    assert answers(told.shuts(12), "L4") == ["holds"]


def test_it_does_not_take_the_end_of_a_turn_for_idle() -> None:
    told = _open().add(Kind.TURN_ENDED).at(30).ends("A").tells("A").shuts(40)
    assert answers(told, "L4") == ["holds"]


def test_it_is_broken_by_a_child_that_ends_before_its_own_child() -> None:
    told = Told().begin().spawn("A").spawn("B", parent="A").at(5).ends("A").at(9).says("B")
    assert answers(told.at(10).ends("B").shuts(12), "L4", "A") == ["broken:premature_terminal"]


def test_it_does_not_know_from_hooks_that_lose_stops() -> None:
    told = Told("hooks", "hooks.jsonl").spawn("A").at(30).add(Kind.STATUS, status="idle", open=[])
    assert answers(told, "L4") == ["unknown"]
    assert answers(Told().spawn("A").at(5).ends("A"), "L4") == ["unknown"]


def test_a_trace_shows_when_a_run_ended() -> None:
    told = Told("trace", "trace.json").spawn("A").spawn("B", parent="A").at(5).ends("A").at(9)
    assert answers(told, "L4", "A") == ["unknown"]
    assert answers(told.ends("B"), "L4", "A") == ["broken:premature_terminal"]


def test_hooks_that_show_the_end_later_prove_that_it_was_open() -> None:
    told = Told("hooks", "hooks.jsonl").add(Kind.AGENT_STARTED, "A", parent="root").at(60)
    told.add(Kind.STATUS, status="idle", raw="idle_prompt")
    assert answers(told, "L4") == ["unknown"]
    assert answers(told.at(90).ends("A", "stopped"), "L4") == ["broken:premature_idle"]


def test_a_log_of_its_own_shows_how_a_child_ends() -> None:
    told = Told("stdout", "out.jsonl").begin()
    told.add(Kind.AGENT_STARTED, "A", parent="root", ends_elsewhere=True).at(4)
    told.add(Kind.RESULT, status="completed", is_error=False)
    assert answers(told, "L4") == ["holds"]
    told.view("session", "child.jsonl").at(3).says("A")
    assert answers(told, "L4") == ["broken:early_exit_children_lost"]


def test_an_end_that_is_only_inferred_says_nothing_in_a_log_that_is_cut() -> None:
    told = Told().begin().spawn("A").spawn("B", "A").at(5).ends("A", inferred=True).at(9)
    assert "broken:premature_terminal" in answers(told.ends("B").shuts(10), "L4", "A")
    assert answers(told.history(complete=False), "L4", "A") == ["unknown"]


def test_it_does_not_know_where_nothing_but_a_childs_own_log_is_here() -> None:
    told = Told().add(Kind.AGENT_STARTED, "A")
    assert [one.reason for one in ask(told, "L4").findings] == ["Its own log is not here."]
