"""L3: what the parent is told before the end, or against a whole answer."""

from __future__ import annotations

from runs.core.events import Kind
from runs.tests.core.build import Told, answers


def test_it_is_broken_by_word_of_an_end_that_comes_while_the_run_works() -> None:
    told = Told().begin().spawn("A").at(1).tells("A").at(5).tool("A").at(44).says("A").ends("A")
    assert answers(told.shuts(60), "L3") == ["broken:told_early"]


def test_a_poll_between_two_turns_is_no_early_word() -> None:
    told = Told().begin().spawn("A").at(1).tells("A", "idle", form="poll").at(5).tool("A")
    assert answers(told.at(44).says("A").ends("A").tells("A").shuts(60), "L3") == ["holds"]


def test_it_is_broken_when_a_whole_answer_is_told_as_cancelled() -> None:
    told = Told().begin().spawn("A").at(5).says("A", final=True, finish="stop").at(20)
    told.ends("A", "cancelled").tells("A", "cancelled", form="tool_result")
    assert answers(told.shuts(30), "L3") == ["broken:told_wrong"]


def test_it_sees_an_answer_that_only_the_terminal_has() -> None:
    told = Told().begin().spawn("A", background=False).at(5)
    told.add(Kind.AGENT_MESSAGE, "A", text_length=0, tool_calls=1).ends("A", text_length=30)
    told.tells("A", form="tool_result", has_result=False, text_length=0)
    assert answers(told.shuts(6), "L3") == ["broken:result_dropped"]
