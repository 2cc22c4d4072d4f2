"""L5: silence is bounded, and the clock stands while something is open."""

from __future__ import annotations

from runs.core.events import Kind
from runs.tests.core.build import Told, answers


def _silent_from(seconds: float = 5.0) -> Told:
    return Told().begin().spawn("A").at(seconds).says("A")


def test_it_is_broken_by_an_open_run_without_content() -> None:
    assert answers(_silent_from().shuts(400), "L5", "A") == ["broken:stall"]
    assert answers(_silent_from().shuts(200), "L5", "A") == ["holds"]


def test_its_bound_is_a_parameter() -> None:
    assert answers(_silent_from().shuts(60), "L5", "A", stall_after=20) == ["broken:stall"]


def test_it_is_broken_by_an_end_that_comes_too_late() -> None:
    assert answers(_silent_from().at(900).ends("A", "failed"), "L5", "A") == ["broken:stall"]


def test_it_does_not_take_a_hooks_stop_for_a_bad_end() -> None:
    def ended(status: str) -> list[str]:
        told = Told("hooks", "hooks.jsonl").spawn("A").at(5).tool("A").at(900).ends("A", status)
        return answers(told.add(Kind.TURN_ENDED), "L5", "A")

    assert ended("stopped") == ["holds"]
    assert ended("failed") == ["broken:stall"]


def test_it_lets_a_slow_answer_come() -> None:
    told = _silent_from().at(500).says("A").at(501).ends("A").shuts(502)
    assert answers(told, "L5", "A") == ["holds"]


def test_it_sees_a_silent_stream_where_pieces_are_recorded() -> None:
    told = _silent_from().at(6).add(Kind.DELTA, "A", text_length=3)
    told.at(500).add(Kind.DELTA, "A", text_length=3).at(501).ends("A").shuts(502)
    assert answers(told, "L5", "A") == ["broken:stall"]


def test_it_does_not_count_empty_pieces_or_failed_attempts_as_content() -> None:
    told = _silent_from()
    for at in range(10, 400, 30):
        told.at(at).add(Kind.DELTA, "A", text_length=0)
    assert answers(told.shuts(400), "L5", "A") == ["broken:stall"]
    told = _silent_from().tries("child:1", [10.0, 100.0, 300.0, 600.0])
    assert answers(told.shuts(700), "L5", "A") == ["broken:stall"]


def test_its_clock_stands_for_a_tool_a_question_and_a_child() -> None:
    assert answers(_silent_from().tool("A", lasting=None).shuts(900), "L5", "A") == ["holds"]
    told = _silent_from().add(Kind.QUESTION_ASKED, "A", id="q").shuts(900)
    assert answers(told, "L5", "A") == ["holds"]
    told = _silent_from().spawn("B", parent="A").at(6).says("B").shuts(900)
    assert answers(told, "L5", "A") == ["holds"]


def test_it_does_not_time_a_root_that_waits_for_a_person() -> None:
    told = Told().begin().add(Kind.TURN_ENDED).at(7200).says("root")
    assert answers(told, "L5", "root") == []
    assert answers(Told().begin().shuts(900), "L5", "root") == ["broken:stall"]


def test_it_times_a_turn_of_the_root_that_others_follow() -> None:
    told = Told().begin().at(2).says("root", final=False).tool("root")
    told.at(900).add(Kind.ABORTED, by="user").add(Kind.TURN_ENDED)
    told.at(901).add(Kind.TURN_STARTED).at(902).says("root", final=True).add(Kind.TURN_ENDED)
    assert answers(told.shuts(903), "L5", "root") == ["broken:stall"]
    fine = Told().begin().at(2).says("root", final=True).at(900).add(Kind.TURN_ENDED)
    fine.at(901).add(Kind.TURN_STARTED).at(902).says("root", final=True).add(Kind.TURN_ENDED)
    assert answers(fine.shuts(903), "L5", "root") == []


def test_it_times_what_a_person_interrupts_where_a_log_shows_no_turns() -> None:
    def asked() -> Told:
        told = Told().add(Kind.SESSION_STARTED).at(1).add(Kind.USER_MESSAGE, text_length=2)
        return told.at(2)

    def stopped(told: Told) -> list[str]:
        told.at(900).add(Kind.ABORTED, by="user").at(901).add(Kind.USER_MESSAGE, text_length=2)
        return answers(told.at(903).says("root", final=True), "L5", "root")

    assert stopped(asked().tool("root")) == ["broken:stall"]
    assert stopped(asked().tool("root", lasting=None)) == []
    assert stopped(asked().says("root", final=True)) == []
    assert stopped(asked().says("root")) == []


def test_it_times_a_root_that_says_it_works_after_its_turn() -> None:
    told = Told().begin().add(Kind.STATUS, status="running").spawn("A").at(1).says("A").ends("A")
    told.add(Kind.STATUS, "A", status="idle").at(2).says("root").add(Kind.TURN_ENDED)
    assert answers(told.shuts(400), "L5", "root") == ["broken:stall"]
    told = Told().begin().add(Kind.STATUS, status="running").at(2).says("root").add(Kind.TURN_ENDED)
    assert answers(told.shuts(400), "L5", "root") == []
    told.at(3).add(Kind.STATUS, status="idle")
    assert answers(told.shuts(400), "L5", "root") == []


def test_it_leaves_a_child_that_never_ran_to_the_law_of_spawns() -> None:
    assert answers(Told().begin().spawn("A").shuts(900), "L5", "A") == ["unknown"]


def test_it_does_not_call_one_stalled_that_has_given_its_answer() -> None:
    told = Told().begin().spawn("A").at(5).says("A", final=True).shuts(900)
    assert answers(told, "L5", "A") == ["holds"]
    assert answers(told, "L1", "A") == ["broken:lost_terminal"]


def test_nobody_is_silent_while_the_program_is_not_there() -> None:
    told = Told().begin().spawn("A").at(5).says("A").at(6).says("root")
    told.at(4000).add(Kind.SESSION_RESUMED).at(4001).ends("A", "failed").shuts(4002)
    assert answers(told, "L5", "A") == ["holds"]


def test_an_end_before_the_start_has_no_silence() -> None:
    told = Told().ends("A").at(1).view("stdout", "out").add(Kind.AGENT_STARTED, "A")
    assert answers(told.request("child:1", agent="A"), "L5", "A") == ["unknown"]
