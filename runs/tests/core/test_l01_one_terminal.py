"""L1: exactly one terminal for every run that started."""

from __future__ import annotations

from runs.core.events import Kind
from runs.tests.core.build import Told, answers, ask


def test_it_holds_for_a_run_that_ends_once() -> None:
    assert answers(Told().begin().spawn("A").at(2).ends("A").shuts(3), "L1") == ["holds"]


def test_it_is_broken_when_the_log_closes_on_an_open_run() -> None:
    told = Told().begin().spawn("A").shuts(60)
    assert answers(told, "L1") == ["broken:lost_terminal"]
    assert [one.ref for one in ask(told, "L1").broken[0].evidence] == [
        "events.jsonl:4",
        "events.jsonl:6",
    ]


def test_it_is_broken_by_two_terminals_of_one_run_in_one_file() -> None:
    told = Told().begin().spawn("A").at(2).ends("A").at(3).ends("A").shuts(4)
    assert answers(told, "L1") == ["broken:duplicate_terminal"]


def test_it_lets_a_follow_up_end_again() -> None:
    told = Told().begin().spawn("A").at(2).ends("A").at(3).add(Kind.AGENT_RESUMED, "A", by="root")
    assert answers(told.at(4).ends("A").shuts(5), "L1") == ["holds", "holds"]


def test_it_takes_two_files_as_two_reports_of_one_end() -> None:
    told = Told().begin().spawn("A").at(2).ends("A").view("stdout", "stdout.jsonl").ends("A")
    assert answers(told.shuts(3), "L1") == ["holds"]


def test_it_does_not_know_while_the_log_is_incomplete() -> None:
    told = Told().begin().spawn("A").shuts(60)
    assert answers(told.history(complete=False), "L1") == ["unknown"]


def test_it_does_not_blame_an_agent_that_a_guard_stopped() -> None:
    told = Told().begin().spawn("A").at(9).add(Kind.GUARD, "", guard="timeout").exits(-9)
    assert answers(told, "L1") == ["unknown"]


def test_it_does_not_know_what_a_damaged_line_held() -> None:
    told = Told().begin().spawn("A").at(2).add(Kind.DAMAGE, "", what="half-line").shuts(3)
    assert answers(told, "L1") == ["unknown"]
    told = Told().begin().spawn("A").at(2).add(Kind.DAMAGE, "", what="glued", repaired=True)
    assert answers(told.shuts(3), "L1") == ["broken:lost_terminal"]


def test_it_does_not_ask_a_log_that_shows_no_ends() -> None:
    told = Told().begin().add(Kind.AGENT_STARTED, "A", parent="root", ends_elsewhere=True)
    assert answers(told.shuts(3), "L1") == ["unknown"]


def test_it_does_not_know_of_a_log_that_stops_in_mid_run() -> None:
    told = Told().begin().spawn("A").at(200).says("A")
    assert answers(told.at(210).says("root"), "L1") == ["unknown"]
    assert answers(told.at(520).says("root"), "L1") == ["broken:lost_terminal"]
    assert answers(told.shuts(521), "L1") == ["broken:lost_terminal"]


def test_who_waits_for_a_child_that_works_is_not_quiet() -> None:
    told = Told().begin().spawn("A").at(1).spawn("B", "A").at(900).says("B")
    assert answers(told.at(901).says("root"), "L1", "A") == ["unknown"]


def test_a_long_tool_keeps_a_run_quiet_for_a_while() -> None:
    told = Told().begin().spawn("A").at(1).tool("A", lasting=None)
    assert answers(told.at(1200).says("root"), "L1") == ["unknown"]
    assert answers(told.at(9000).says("root"), "L1") == ["broken:lost_terminal"]
