"""L3: the parent is told once, in time, and truly."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from runs.core.events import Kind
from runs.tests.core.build import Told, answers


def _ended(status: str = "completed") -> Told:
    told = Told().begin().spawn("A").at(5)
    told = told.errs("A") if status == "failed" else told.says("A")
    return told.ends("A", status)


def test_it_holds_when_the_parent_is_told_the_truth() -> None:
    assert answers(_ended().at(6).tells("A").shuts(7), "L3") == ["holds"]
    assert answers(_ended("failed").at(6).tells("A", "failed").shuts(7), "L3") == ["holds"]


def test_it_is_broken_when_a_failure_is_told_as_a_success() -> None:
    told = _ended("failed").at(6).tells("A", "completed").shuts(7)
    assert answers(told, "L3") == ["broken:cut_stream_false_completion"]
    told = _ended("failed").at(6).tells("A", "idle").shuts(7)
    assert answers(told, "L3") == ["broken:cut_stream_false_completion"]


def test_it_is_broken_when_one_notice_lies_and_another_does_not() -> None:
    told = _ended("failed").at(6).tells("A", form="wait").at(7).tells("A", "failed").shuts(8)
    assert answers(told, "L3") == ["broken:cut_stream_false_completion"]


def test_it_takes_idle_for_a_completed_child_as_true() -> None:
    assert answers(_ended().at(6).tells("A", "idle").shuts(7), "L3") == ["holds"]


def test_it_is_broken_when_nobody_is_told() -> None:
    assert answers(_ended("failed").shuts(7), "L3") == ["broken:notice_lost"]


def test_it_does_not_know_who_is_told_of_one_whose_end_alone_a_hook_shows() -> None:
    told = Told().begin().at(5).view("hooks", "hooks.jsonl").ends("helper", "stopped")
    assert answers(told.shuts(7), "L3") == ["unknown"]


def test_it_is_broken_when_word_stays_in_the_queue() -> None:
    told = _ended().add(Kind.NOTICE_QUEUED, child="A", status="completed")
    assert answers(told.at(7200).says("root"), "L3") == ["broken:notice_lost"]


def test_it_waits_for_word_that_may_still_come() -> None:
    assert answers(_ended().at(20).says("root"), "L3") == ["unknown"]
    assert answers(_ended().shuts(7).history(complete=False), "L3") == ["unknown"]


def _words_apart(background: bool | None = None) -> Told:
    """A child whose own file closes with an answer at 5 s; its terminal is word of it at 400 s."""
    told = Told().begin().spawn("A").view("session", "child.jsonl").at(2)
    told.add(Kind.TOOL_STARTED, "A", call="t", background=background)
    told.at(3).add(Kind.TOOL_ENDED, "A", call="t").at(5).says("A", final=True)
    return told.view("session", "events.jsonl").at(400)


def test_it_measures_from_the_answer_where_the_terminal_is_but_the_word_of_it() -> None:
    def word(told: Told) -> list[str]:
        told.ends("A").tells("A")
        told.events[-1] = replace(told.events[-1], line=told.events[-2].line)
        return answers(told.at(402).says("root").shuts(403), "L3", "A")

    assert word(_words_apart()) == ["broken:notice_late"]
    assert word(_words_apart(background=True)) == ["holds"]
    assert word(_words_apart().at(399).add(Kind.SESSION_RESUMED).at(400)) == ["holds"]
    assert answers(_words_apart().ends("A").tells("A").shuts(403), "L3", "A") == ["holds"]


def test_it_measures_lateness_without_the_parents_own_tools() -> None:
    assert answers(_ended().at(100).tells("A").shuts(101), "L3") == ["broken:notice_late"]
    told = _ended().tool("root", lasting=90.0).at(100).tells("A").shuts(101)
    assert answers(told, "L3") == ["holds"]


def test_it_does_not_count_a_question_or_a_model_call_of_the_parent() -> None:
    def between(first: Kind, last: Kind) -> list[str]:
        told = _ended().add(first, id="q").at(99).add(last, id="q")
        return answers(told.at(100).tells("A").shuts(101), "L3")

    assert between(Kind.QUESTION_ASKED, Kind.QUESTION_ANSWERED) == ["holds"]
    assert between(Kind.MODEL_STARTED, Kind.MODEL_ENDED) == ["holds"]
    assert between(Kind.QUESTION_ANSWERED, Kind.QUESTION_ASKED) == ["broken:notice_late"]
    wire = Told().begin().request("parent").at(1).spawn("A").at(5).says("A").ends("A")
    wire.request("parent", lasting=94).at(100).tells("A").shuts(101)
    assert answers(wire, "L3") == ["holds"]


def test_it_counts_the_calls_in_which_the_parent_waits_for_that_very_child() -> None:
    def asked(*children: str) -> list[str]:
        told = _ended().tool("root", "ask", lasting=90.0)
        for child in children:
            told.tells(child, "running", form="poll", call="ask")
        return answers(told.at(100).tells("A").shuts(101), "L3", "A")

    assert asked("A") == ["broken:notice_late"]
    assert asked() == ["holds"]
    two = Told().begin().spawn("A").spawn("B").at(5).says("A").ends("A").tool("root", "ask", 90.0)
    two.tells("A", "running", form="poll", call="ask").tells(
        "B", "running", form="poll", call="ask"
    )
    assert answers(two.at(100).tells("A").shuts(101), "L3", "A") == ["holds"]
    wait = Told().begin().add(Kind.TOOL_STARTED, call="call-A").spawn("A", background=False)
    wait.at(5).says("A").ends("A").at(100).add(Kind.TOOL_ENDED, call="call-A")
    assert answers(wait.tells("A", form="tool_result").shuts(101), "L3") == ["broken:notice_late"]


def test_it_owes_nobody_word_of_one_that_no_spawn_made() -> None:
    def helper(*, spawned: bool) -> list[str]:
        told = Told().begin()
        if spawned:
            told.spawn("A").at(1).says("A").ends("A").tells("A")
        told.at(2).view("session", "helper.jsonl").add(Kind.AGENT_STARTED, "helper").says("helper")
        told.ends("helper").view("session", "events.jsonl")
        return answers(told.at(200).says("root"), "L3", "helper")

    assert helper(spawned=True) == ["unknown"]
    assert helper(spawned=False) == ["broken:notice_lost"]


def test_a_trace_alone_does_not_show_which_of_those_that_are_told_of_a_run_is() -> None:
    told = _ended().tells("A").view("trace", "trace.json").add(Kind.AGENT_STARTED, "span-1")
    told.ends("span-1").view("session", "events.jsonl")
    assert answers(told.at(90).says("root").shuts(91), "L3", "span-1") == ["unknown"]


def test_it_is_broken_by_the_same_notification_twice_and_not_by_a_poll() -> None:
    told = _ended().at(6).tells("A").at(7).tells("A").shuts(8)
    assert answers(told, "L3") == ["broken:duplicate_notice"]
    told = _ended().at(6).tells("A").at(7).tells("A", form="poll").tells("A", form="poll")
    assert answers(told.shuts(8), "L3") == ["holds"]


def test_it_may_be_told_again_after_a_restart() -> None:
    told = _ended().at(6).tells("A").at(7).add(Kind.SESSION_RESUMED).at(8).tells("A").shuts(9)
    assert answers(told, "L3") == ["holds"]
    told = _ended().at(6).add(Kind.SESSION_RESUMED).at(7).tells("A").at(8).tells("A").shuts(9)
    assert answers(told, "L3") == ["broken:duplicate_notice"]


def test_it_does_not_ask_a_part_that_is_dead_to_tell() -> None:
    def told(*words: str) -> list[str]:
        history = Told().begin().spawn("A").at(4)
        for word in words:
            history.add(Kind.PART, "", part="runner", status=word)
        return answers(history.at(5).ends("A", "failed").shuts(900), "L3")

    assert told("started", "online", "killed") == ["unknown"]
    assert told("started", "online", "killed", "started", "online") == ["broken:notice_lost"]

    at_once = Told().begin().spawn("A").at(5).ends("A").at(6)
    at_once.add(Kind.PART, "", part="runner", status="killed")
    assert answers(at_once.shuts(900), "L3") == ["unknown"]
    late = Told().begin().spawn("A").at(5).ends("A").at(60)
    late.add(Kind.PART, "", part="runner", status="killed")
    assert answers(late.shuts(900), "L3") == ["broken:notice_lost"]


def test_it_is_broken_when_the_result_gets_lost() -> None:
    told = _ended().at(6).tells("A", form="tool_result", has_result=False, text_length=0)
    assert answers(told.shuts(7), "L3") == ["broken:result_dropped"]
    assert answers(_ended().at(6).tells("A", has_result=None).shuts(7), "L3") == ["holds"]


def test_it_does_not_look_for_notices_where_none_are_shown() -> None:
    for source in ("hooks", "trace", "bus"):
        told = Told(source, "log.jsonl").begin().spawn("A").at(5).ends("A", "cancelled")
        assert answers(told.shuts(900), "L3") == ["unknown"]


def test_it_does_not_ask_who_cancelled_whether_he_knows() -> None:
    told = Told().begin().spawn("A").at(5).add(Kind.CANCEL_REQUESTED, "", target="root", by="user")
    assert answers(told.ends("A", "cancelled").shuts(7), "L3") == ["unknown"]


def test_it_is_broken_when_a_person_stops_the_child_alone_and_the_parent_is_not_told() -> None:
    def stopped(**asked: str) -> list[str]:
        told = Told().begin().spawn("A").at(5).add(Kind.CANCEL_REQUESTED, **asked)
        return answers(told.ends("A", "interrupted").shuts(20), "L3")

    assert stopped(target="A", by="user") == ["broken:notice_lost"]
    assert stopped(target="A", by="parent") == ["unknown"]
    assert stopped(target="root", by="user") == ["unknown"]


def test_a_parent_that_failed_in_its_own_call_could_not_be_told() -> None:
    def failed(begun: float, kind: Kind = Kind.TURN_ENDED, **word: Any) -> list[str]:
        told = Told().begin().spawn("A").at(begun).tries("parent", [begun, begun + 4], agent="root")
        told.at(5).says("A").ends("A").at(9).add(kind, **(word or {"status": "failed"}))
        return answers(told.exits(1, at=10), "L3")

    assert failed(3) == ["unknown"]
    assert failed(3, Kind.RESULT, is_error=True) == ["unknown"]
    assert failed(3, Kind.RESULT, is_error=False) == ["broken:notice_lost"]
    assert failed(6) == ["broken:notice_lost"], "the word was there before the parent asked"
