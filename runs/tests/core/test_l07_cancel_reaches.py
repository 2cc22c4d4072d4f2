"""L7: a cancel reaches its subtree, and nobody else is cancelled."""

from __future__ import annotations

from runs.core.events import Kind
from runs.tests.core.build import Told, answers


def _two() -> Told:
    return Told().begin().spawn("A").spawn("B").at(5).says("A").says("B").at(10)


def _asked(target: str = "root") -> Told:
    return _two().add(Kind.CANCEL_REQUESTED, "", target=target, by="user")


def test_it_holds_when_all_below_the_target_end_as_cancelled() -> None:
    told = _asked().at(11).ends("A", "cancelled").ends("B", "interrupted").shuts(20)
    assert answers(told, "L7") == ["holds", "holds"]


def test_it_lets_a_run_end_by_itself_in_the_moment_of_the_cancel() -> None:
    assert answers(_asked("A").at(10.5).ends("A").shuts(60), "L7", "A") == ["holds"]


def test_it_is_broken_by_a_run_that_stays_open_or_works_on() -> None:
    assert answers(_asked("A").shuts(60), "L7", "A") == ["broken:cancel_ignored"]
    told = _asked("A").at(15).tool("A", "t9").at(16).ends("A", "cancelled").shuts(60)
    assert answers(told, "L7", "A") == ["broken:cancel_ignored"]
    told = _asked("A").at(15).request("A", agent="A").at(16).ends("A", "cancelled").shuts(60)
    assert answers(told, "L7", "A") == ["broken:cancel_ignored"]


def test_it_is_broken_by_another_word_for_the_end() -> None:
    assert answers(_asked("A").at(11).ends("A", "failed"), "L7", "A") == ["broken:cancel_misnamed"]


def test_it_is_broken_by_a_call_that_was_given_up_for_complete() -> None:
    told = _two().at(9).request("A", agent="A", complete=False, closed="client-gone", lasting=1.2)
    told.at(10).add(Kind.CANCEL_REQUESTED, target="A", by="parent").at(10.3).ends("A")
    told.tells("A", "cancelled").shuts(60)
    assert answers(told, "L7", "A") == ["broken:cancel_misnamed"]
    assert answers(told, "L3", "A") == ["holds"]


def test_it_is_broken_by_a_sibling_that_is_cancelled_as_well() -> None:
    told = _asked("A").view("acp", "acp.jsonl").add(Kind.OTHER, "").view("session", "events.jsonl")
    told.at(11).ends("A", "cancelled").ends("B", "cancelled").at(60).says("root")
    assert answers(told, "L7") == ["holds", "broken:cancel_overreach"]


def test_it_does_not_know_who_pressed_a_key() -> None:
    told = _two().add(Kind.ABORTED, reason="user_initiated").ends("A", "cancelled")
    assert answers(told.at(60).says("root"), "L7") == ["unknown"]


def test_it_does_not_blame_the_end_of_the_session_or_our_own_cancel() -> None:
    told = _two().add(Kind.PROCESS_STARTED, "").shuts(10).ends("A", "cancelled")
    assert answers(told, "L7") == ["unknown"]
    told = _two().add(Kind.PROCESS_STARTED, "").view("harness", "harness")
    told.add(Kind.CANCEL_REQUESTED, "", target="root", by="harness").view("session", "events.jsonl")
    assert answers(told.at(11).ends("A", "cancelled").exits(-15), "L7") == ["unknown"]
