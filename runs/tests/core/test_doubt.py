"""A breach that a lost line may explain is not known to be one."""

from __future__ import annotations

from runs.core.doubt import NEVER_CAME, NOT_BEFORE, NOTHING_BETWEEN, WORK_AFTER
from runs.core.events import Kind
from runs.core.judge import laws
from runs.tests.core.build import Told, answers


def _lost(told: Told) -> Told:
    return told.add(Kind.DAMAGE, "", what="half-line", repaired=False, lost="record")


def test_its_labels_are_labels_of_laws() -> None:
    known = {label for law in laws().values() for label in law.labels}
    assert known >= NEVER_CAME | NOT_BEFORE | NOTHING_BETWEEN
    assert WORK_AFTER <= NOTHING_BETWEEN


def test_a_lost_line_may_have_been_the_answer_to_a_question() -> None:
    told = Told().begin().spawn("A").at(5).add(Kind.QUESTION_ASKED, "A", id="q")
    assert answers(_lost(told).at(500).says("root"), "L14") == ["unknown"]
    told = _lost(Told().begin().spawn("A")).at(5).add(Kind.QUESTION_ASKED, "A", id="q")
    assert answers(told.at(500).says("root"), "L14") == ["broken:hidden_permission"]


def test_a_lost_line_behind_an_error_and_its_terminal_explains_nothing() -> None:
    told = Told().begin().spawn("A").at(5).errs("A").ends("A")
    assert answers(_lost(told).shuts(9), "L2") == ["broken:cut_stream_false_completion"]
    told = _lost(Told().begin().spawn("A").at(5).errs("A")).ends("A")
    assert answers(told.shuts(9), "L2") == ["unknown"]


def test_a_lost_line_may_have_been_the_message_that_woke_it() -> None:
    told = Told().begin().spawn("A").at(5).says("A").ends("A")
    assert answers(_lost(told).at(50).tool("A").shuts(60), "L12") == ["unknown"]


def test_a_cancel_may_have_been_asked_for_in_a_lost_line_of_another_file() -> None:
    told = Told("acp", "acp.jsonl").add(Kind.USER_MESSAGE)
    told = _lost(told).view("session", "events.jsonl").begin().spawn("A").at(30)
    assert answers(told.ends("A", "cancelled").at(60).says("root"), "L7") == ["unknown"]


def test_what_rests_on_a_damaged_line_itself_is_not_known() -> None:
    told = Told().begin().spawn("A", model="small").at(1)
    told.request("child:1", model="bi\ufffd").view("provider", "provider.jsonl")
    told.lines["provider.jsonl"] = 1
    assert answers(_lost(told), "L18") == ["unknown"]
