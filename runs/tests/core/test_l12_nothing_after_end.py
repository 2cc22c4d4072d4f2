"""L12: nothing follows the end."""

from __future__ import annotations

from runs.core.events import Kind
from runs.tests.core.build import Told, answers


def _ended() -> Told:
    return Told().begin().spawn("A").at(4).says("A").at(5).ends("A")


def test_it_holds_when_nothing_follows() -> None:
    assert answers(_ended().shuts(9), "L12") == ["holds"]


def test_it_is_broken_by_one_that_wakes_later() -> None:
    assert answers(_ended().at(60).tool("A").shuts(70), "L12") == ["broken:zombie"]
    told = Told().begin().spawn("A").at(2).request("A", agent="A").at(4).says("A").at(5).ends("A")
    assert answers(told.at(60).request("A", agent="A").shuts(70), "L12") == ["broken:zombie"]


def test_it_is_not_known_beside_requests_that_begin_after_the_answer_to_them() -> None:
    told = _ended().at(60).request("A", agent="A").shuts(70)
    assert answers(told, "L12") == ["unknown"]


def test_it_calls_an_end_in_the_middle_of_work_premature() -> None:
    told = Told().begin().spawn("A").at(4).add(Kind.TOOL_STARTED, "A", call="t").at(5).ends("A")
    told.at(9).add(Kind.TOOL_ENDED, "A", call="t").says("A").shuts(12)
    assert answers(told, "L12") == ["broken:premature_terminal"]


def test_it_lets_a_new_run_work() -> None:
    told = _ended().at(60).add(Kind.USER_MESSAGE, "A", **{"from": "root"}).at(61).tool("A")
    assert answers(told.at(70).ends("A").shuts(80), "L12") == ["holds", "holds"]


def test_it_allows_for_clocks_that_differ() -> None:
    assert answers(_ended().at(5.2).says("A").shuts(9), "L12") == ["holds"]
    # The provider's clock cannot be that of the log: its first answer came before the request.
    told = Told().begin().at(0.1).says("root").spawn("A").at(2).ends("A")
    told.at(6).request("parent").at(8).request("child:1").shuts(9)
    assert answers(told, "L12") == ["holds"]


def test_it_does_not_know_from_hooks_alone() -> None:
    told = Told("hooks", "hooks.jsonl").spawn("A").at(2).ends("A")
    told.events = [event for event in told.events if event.agent == "A"]
    assert answers(told, "L12") == ["unknown"]


def test_who_ends_over_a_job_in_the_background_ends_too_early() -> None:
    told = Told().begin().spawn("A").at(4)
    told.add(Kind.TOOL_STARTED, "A", call="t", tool="Bash", background=True)
    told.add(Kind.TOOL_ENDED, "A", call="t", tool="Bash", ok=True)
    told.at(14).says("A").ends("A").at(300).says("A").shuts(310)
    assert answers(told, "L12") == ["broken:premature_terminal"]


def test_words_that_a_slow_view_shows_after_the_model_had_said_all_are_an_echo() -> None:
    def shown(*more: float) -> list[str]:
        told = Told().begin().spawn("A").at(1).request("A", agent="A", lasting=2.0)
        for moment in more:
            told = told.at(moment).request("A", agent="A", lasting=0.5)
        told = told.at(4).ends("A").view("stdout", "live.jsonl").at(8)
        told.add(Kind.DELTA, "A", text_length=9).at(12).says("A").ends("A")
        return answers(told.exits(0, at=20), "L12")

    assert shown() == ["holds"]
    assert shown(9.0) == ["broken:zombie"], "it asked its model again"
