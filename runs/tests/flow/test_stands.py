"""What an invalid outcome, or a question without an answer, leaves of a diagnosis."""

from __future__ import annotations

from runs.core.events import Kind
from runs.core.judge import judge
from runs.tests.core.build import Told
from runs.verdict import stands, unanswered

UNDELIVERED = "invalid-fault-not-delivered"


def _answered_and_left(ends: bool) -> Told:
    """A child that gave its whole answer; its own child has not asked when the program exits."""
    told = Told().begin().spawn("A").at(1).request("child:1").says("A", 40, final=True)
    told.spawn("B", "A")
    if ends:
        told.ends("B").tells("B", to="A").ends("A").tells("A")
    return told.at(5).add(Kind.PROCESS_EXITED, code=0)


def test_a_diagnosis_stands_where_those_whom_no_fault_reached_were_left_behind() -> None:
    judged = judge(_answered_and_left(ends=False).history())
    assert judged.diagnosis == "lost_terminal"
    assert stands(UNDELIVERED, judged)
    assert not stands("invalid-runtime-evidence", judged)


def test_it_does_not_where_everybody_ended() -> None:
    assert not stands(UNDELIVERED, judge(_answered_and_left(ends=True).history()))


def test_nothing_broken_is_no_answer_where_no_law_in_question_could_be_judged() -> None:
    judged = judge(_answered_and_left(ends=True).history())
    assert judged.diagnosis == "healthy"
    assert unanswered(["L11"], judged)
    assert not unanswered(["L11", "L3"], judged)
    assert not unanswered([], judged)  # somebody's log: nothing in particular is asked
