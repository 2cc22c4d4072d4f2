"""L14 to L18: hidden questions, dead spawns, exits, watchdogs and models."""

from __future__ import annotations

import pytest

from runs.core.events import Kind
from runs.core.judge import judge
from runs.core.law import Verdict
from runs.tests.core.build import Told, answers


def _asks() -> Told:
    return Told().begin().spawn("A").at(5).says("A").add(Kind.QUESTION_ASKED, "A", id="q")


def test_a_question_that_nobody_sees_is_hidden() -> None:
    assert answers(_asks().shuts(200), "L14") == ["broken:hidden_permission"]
    assert answers(_asks().at(190).add(Kind.QUESTION_ANSWERED, "A", id="q"), "L14") == [
        "broken:hidden_permission"
    ]


def test_a_question_that_is_shown_or_answered_is_not() -> None:
    assert answers(_asks().add(Kind.QUESTION_SHOWN, "root", id="q").shuts(900), "L14") == ["holds"]
    told = _asks().at(9).add(Kind.QUESTION_ANSWERED, "root", id="q", answer="denied")
    assert answers(told, "L14") == ["holds"]
    assert answers(_asks().shuts(20), "L14") == ["unknown"]


@pytest.mark.parametrize(
    ("word", "verdict"),
    [
        ("allow-once", "holds"),
        ("denied", "broken:hidden_permission"),
        ("timed_out", "broken:hidden_permission"),
        ("expired", "broken:hidden_permission"),
    ],
)
def test_a_late_answer_that_may_be_the_runtimes_own_shows_no_question(
    word: str, verdict: str
) -> None:
    told = _asks().at(190).add(Kind.QUESTION_ANSWERED, "A", id="q", answer=word)
    assert answers(told, "L14") == [verdict]


def test_a_hidden_question_is_not_a_stall_as_well() -> None:
    findings = judge(_asks().shuts(2000).history())
    assert findings.diagnosis == "hidden_permission"
    assert findings.verdict("L5", "A") is not Verdict.BROKEN
    assert findings.verdict("L1", "A") is Verdict.UNKNOWN


def _dead() -> Told:
    return Told().begin().request("parent").at(1).spawn("A")


def test_a_child_that_never_asks_a_model_is_dead() -> None:
    told = _dead().at(590).add(Kind.CAPTURE_ENDED, "")
    assert answers(told, "L15", "A") == ["broken:dead_spawn"]
    assert judge(told.history()).diagnosis == "dead_spawn"


def test_a_child_has_its_time_and_needs_a_log_that_would_show_it() -> None:
    assert answers(_dead().at(100).add(Kind.CAPTURE_ENDED, ""), "L15", "A") == ["unknown"]
    assert answers(Told().begin().spawn("A").at(900).says("root"), "L15", "A") == ["unknown"]
    told = _dead().at(590).add(Kind.CAPTURE_ENDED, "")
    assert answers(told, "L15", "A", start_within=900) == ["unknown"]


def test_a_child_that_works_was_truly_acknowledged() -> None:
    assert answers(_dead().at(2).request("child:1").shuts(900), "L15", "A") == ["holds"]
    assert answers(Told().begin().spawn("A").at(9).says("A"), "L15", "A") == ["holds"]
    late = _dead().at(200).request("child:1").shuts(900)
    assert answers(late, "L15", "A") == ["broken:dead_spawn"]


def test_a_child_whose_own_log_begins_late_asked_no_model_before() -> None:
    def begins(at: float, kind: Kind = Kind.TURN_STARTED) -> Told:
        return Told().begin().spawn("A").add(Kind.USER_MESSAGE, "A").at(at).add(kind, "A")

    late = begins(200).at(300).says("A").shuts(301)
    assert answers(late, "L15", "A") == ["broken:dead_spawn"]
    assert answers(begins(100).at(300).says("A").shuts(301), "L15", "A") == ["holds"]
    asked = begins(200, Kind.USER_MESSAGE).at(300).says("A").shuts(301)
    assert answers(asked, "L15", "A") == ["holds"], "it had its task at once"
    again = Told().begin().spawn("A").at(100).add(Kind.SESSION_RESUMED).at(200)
    again.add(Kind.TURN_STARTED, "A").says("A").shuts(201)
    assert answers(again, "L15", "A") == ["holds"]


def test_a_spawn_call_that_hangs_is_dead_and_a_foreground_one_waits() -> None:
    told = Told().begin().add(Kind.SPAWN_REQUESTED, call="c", background=True).shuts(200)
    assert answers(told, "L15") == ["broken:dead_spawn"]
    told = Told().begin().add(Kind.SPAWN_REQUESTED, call="c", background=False).shuts(200)
    assert answers(told, "L15") == ["unknown"]


def _done(status: str = "completed") -> Told:
    told = Told().begin().request("parent").spawn("A").at(5)
    told = told.errs("A") if status == "failed" else told.says("A")
    return told.ends("A", status)


def test_a_successful_exit_is_honest_when_all_is_well_or_told() -> None:
    assert answers(_done().tells("A").exits(0), "L16") == ["holds"]
    assert answers(_done("failed").tells("A", "failed").exits(0), "L16") == ["holds"]


def test_a_successful_exit_is_not_honest_over_an_untold_failure() -> None:
    assert answers(_done("failed").exits(0), "L16") == ["broken:failed_untold"]
    assert answers(_done("failed").exits(1), "L16") == ["holds"]


def test_a_successful_exit_is_not_honest_over_lost_or_killed_children() -> None:
    told = Told().begin().spawn("A").at(5).add(Kind.RESULT, status="success").ends("A", "stopped")
    assert answers(told.exits(0, at=9), "L16") == ["broken:early_exit_children_lost"]
    told = Told().begin().spawn("A").exits(0, at=9)
    assert answers(told, "L16") == ["broken:early_exit_children_lost"]


def test_a_request_log_that_stops_before_the_answer_proves_no_cut() -> None:
    told = Told().begin().request("parent", closed="open").at(5)
    assert answers(told.says("root", final=True).exits(0, at=9), "L16") == ["holds"]
    told = Told().begin().at(5).says("root", final=True).at(6).request("parent", closed="open")
    assert answers(told.exits(0, at=9), "L16") == ["broken:early_exit_root_cut"]


def test_a_successful_exit_is_not_honest_when_the_root_was_cut() -> None:
    told = Told().begin().request("parent", complete=False, closed="cut").exits(0, at=9)
    assert answers(told, "L16") == ["broken:early_exit_root_cut"]


def test_an_exit_that_we_forced_or_never_saw_says_nothing() -> None:
    told = Told().begin().spawn("A").add(Kind.GUARD, "", guard="timeout").exits(0, at=9)
    assert answers(told, "L16") == ["unknown"]
    assert answers(_done().shuts(9), "L16") == ["unknown"]


def _flagged(told: Told, target: str = "A") -> Told:
    return told.add(Kind.WATCHDOG, "", target=target, action="aborted", after=180)


def test_a_watchdog_is_wrong_inside_a_tool_or_above_a_live_child() -> None:
    told = Told().begin().spawn("A").at(5).tool("A", lasting=None).at(200)
    assert answers(_flagged(told), "L17") == ["broken:watchdog_false_alarm"]
    told = Told().begin().spawn("A").at(5).says("A").at(200)
    assert answers(_flagged(told, "root"), "L17") == ["broken:watchdog_false_alarm"]
    told = Told().begin().spawn("A").at(150).add(Kind.DELTA, "A", text_length=3).at(200)
    assert answers(_flagged(told), "L17") == ["broken:watchdog_false_alarm"]


def test_a_watchdog_is_right_over_true_silence() -> None:
    told = Told().begin().spawn("A").at(5).says("A").at(200)
    assert answers(_flagged(told), "L17") == ["holds"]
    assert answers(Told().begin().spawn("A"), "L17") == ["unknown"]


def _asked(model: str, used: str) -> Told:
    return Told().begin().spawn("A", model=model).at(1).request("child:1", model=used)


def test_a_child_asks_the_model_that_it_was_given() -> None:
    assert answers(_asked("big", "big"), "L18") == ["holds"]
    assert answers(_asked("big", "small"), "L18") == ["broken:model_substituted"]
    told = _asked("big", "small").add(Kind.MODEL_CHANGED, "A", to="small")
    assert answers(told, "L18") == ["holds"]


def test_a_model_may_be_spelled_in_more_than_one_way() -> None:
    assert answers(_asked("sonnet", "claude-sonnet-4-5"), "L18") == ["holds"]
    assert answers(_asked("openai/gpt-5", "gpt-5-2026-08-01"), "L18") == ["holds"]
    assert answers(_asked("gpt-5", "gpt-5-mini"), "L18") == ["broken:model_substituted"]
    assert answers(_asked("inherit", "big"), "L18") == ["unknown"]


def test_an_output_that_stops_in_the_roots_turn_is_no_success() -> None:
    told = Told("stdout", "out.jsonl").begin().at(5).add(Kind.DELTA, text_length=4)
    assert answers(told.exits(0, at=6), "L16") == ["broken:early_exit_root_cut"]
    told = Told("stdout", "out.jsonl").begin().at(5).says("root", final=True)
    assert answers(told.exits(0, at=6), "L16") == ["holds"]


def test_a_start_record_may_give_the_substitution_away() -> None:
    told = Told().begin().add(Kind.SPAWN_REQUESTED, call="c", model="small")
    told.add(Kind.AGENT_STARTED, "A", parent="root", call="c", model="big")
    assert answers(told, "L18") == ["broken:model_substituted"]
    told.add(Kind.MODEL_CHANGED, "A", to="big")
    assert answers(told, "L18") == ["unknown"]


@pytest.mark.parametrize(
    ("asked", "given", "verdict"),
    [
        ("haiku", "claude-opus-4-8", "broken:model_substituted"),
        ("haiku", "claude-haiku-4-5-20251001", "unknown"),
        ("claude-opus-4-8", "claude-opus-4-8[1m]", "unknown"),
    ],
)
def test_it_is_broken_by_a_spawn_that_says_it_gives_another_model(
    asked: str, given: str, verdict: str
) -> None:
    told = Told().begin().add(Kind.SPAWN_REQUESTED, call="c", model=asked)
    told.add(Kind.SPAWN_ANSWERED, call="c", ok=True, child="A", model=given)
    assert answers(told.at(1).says("A").shuts(2), "L18", "A") == [verdict]
