"""L8: crash and resume lose nothing."""

from __future__ import annotations

from runs.core.events import Kind
from runs.tests.core.build import Told, answers


def test_it_is_broken_by_a_crash_with_an_open_run() -> None:
    told = Told().begin().spawn("A").at(9).add(Kind.PROCESS_EXITED, "", signal=11)
    assert answers(told, "L8") == ["broken:orphaned"]


def test_it_looks_at_a_part_that_was_killed_like_at_a_crash() -> None:
    told = Told().begin().spawn("A").spawn("B").at(9)
    told.add(Kind.PART, "", part="runner", status="killed", signal=9)
    assert answers(told.at(99).ends("B", "failed").exits(0), "L8") == ["broken:orphaned", "holds"]
    told = Told().begin().spawn("A").at(9).add(Kind.PART, "", part="runner", status="stopped")
    assert answers(told.exits(0), "L8") == ["unknown"]


def test_it_does_not_blame_a_guard_for_a_crash() -> None:
    told = Told().begin().spawn("A").at(9).add(Kind.GUARD, "", guard="timeout").exits(-9)
    assert answers(told, "L8") == ["unknown"]


def test_it_holds_when_open_runs_are_resumed_or_ended_after_a_resume() -> None:
    told = Told().begin().spawn("A").spawn("B").at(9).add(Kind.SESSION_RESUMED)
    told.add(Kind.AGENT_RESUMED, "A", by="resume").ends("B", "interrupted").shuts(20)
    assert answers(told, "L8") == ["holds", "holds"]


def test_it_is_broken_by_a_run_that_a_resume_forgets() -> None:
    told = Told().begin().spawn("A").at(9).add(Kind.SESSION_RESUMED).at(20).says("root").shuts(90)
    assert answers(told, "L8") == ["broken:orphaned"]


def test_it_is_broken_by_an_outcome_that_changes_or_gets_lost() -> None:
    told = Told().begin().spawn("A").at(3).ends("A").at(9).add(Kind.SESSION_RESUMED)
    assert answers(told.tells("A", "failed").shuts(20), "L8") == ["broken:resume_lost_outcome"]
    told = Told().begin().spawn("A").at(3).ends("A").add(Kind.NOTICE_QUEUED, child="A")
    told.at(9).add(Kind.SESSION_RESUMED)
    assert answers(told.shuts(20), "L8") == ["broken:resume_lost_outcome"]


def test_it_is_broken_by_requests_after_the_death_of_the_process() -> None:
    told = Told().begin().spawn("A").at(3).ends("A").exits(0, at=5).at(9).request("child:1")
    assert answers(told, "L8") == ["broken:orphaned"]


def test_it_is_broken_by_a_damaged_log_that_does_not_load() -> None:
    told = Told().begin().add(Kind.DAMAGE, "", what="nul").at(9).add(Kind.SESSION_RESUMED)
    assert answers(told.errs("root", "other").shuts(10), "L8") == ["broken:log_damaged"]


def _reloaded(*words: str) -> Told:
    """A root whose stored conversation of a task and a call is asked as `words` after a restart."""
    told = Told().begin().add(Kind.USER_MESSAGE, digest="d1").tool("root", "c1")
    told.request("parent", agent="root", conversation=["user d1", "call c1", "output c1"])
    told.at(5).add(Kind.SESSION_RESUMED).at(6)
    return told.request("parent", agent="root", conversation=list(words)).shuts(9)


def test_it_holds_when_all_that_was_stored_is_told_again_once() -> None:
    told = _reloaded("user d1", "call c1", "output c1", "user d2")
    assert answers(told, "L8") == ["holds"]


def test_it_is_broken_by_a_conversation_that_lacks_or_doubles_what_was_stored() -> None:
    assert answers(_reloaded("user d1"), "L8") == ["broken:history_lost"]
    assert answers(_reloaded("call c1", "output c1"), "L8") == ["broken:history_lost"]
    told = _reloaded("user d1", "user d1", "call c1", "output c1")
    assert answers(told, "L8") == ["broken:history_doubled"]
    assert answers(_reloaded(), "L8") == ["unknown"]


def test_it_says_nothing_without_crash_or_resume() -> None:
    assert answers(Told().begin().spawn("A").ends("A").shuts(3), "L8") == ["unknown"]


def test_it_is_broken_by_an_end_that_only_a_question_to_the_store_brings_out() -> None:
    told = Told().begin().spawn("A").at(9).add(Kind.SESSION_RESUMED).at(10)
    told.ends("A", "interrupted", inferred=True).at(20).says("root")
    assert answers(told.shuts(90), "L8") == ["broken:orphaned"]
    told = Told().begin().spawn("A").at(9).add(Kind.SESSION_RESUMED).at(10)
    told.ends("A", "interrupted", inferred=True).at(20).tells("A", "interrupted")
    assert answers(told.shuts(90), "L8") == ["holds"], "its parent was told"
