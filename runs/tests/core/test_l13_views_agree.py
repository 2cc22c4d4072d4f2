"""L13: every view tells the same story."""

from __future__ import annotations

from typing import Any

from runs.core.events import Event, Kind
from runs.core.history import History
from runs.tests.core.build import Told, answers


def _both(stdout: str, session: str) -> Told:
    told = Told().begin().spawn("A").at(5).ends("A", session).view("stdout", "stdout.jsonl")
    told.at(1).add(Kind.AGENT_STARTED, "A", parent="root").at(5)
    told = told.ends("A", stdout) if stdout else told
    return told.at(9).says("root").exits(0)


def test_it_holds_when_both_views_have_the_same_end() -> None:
    assert answers(_both("failed", "failed"), "L13") == ["holds"]


def test_it_is_broken_by_two_different_ends() -> None:
    assert answers(_both("completed", "failed"), "L13") == ["broken:views_disagree"]


def test_it_is_broken_by_an_end_that_one_view_keeps_to_itself() -> None:
    assert answers(_both("", "failed"), "L13") == ["broken:terminal_not_published"]


def test_it_takes_a_notice_for_a_published_end() -> None:
    told = _both("", "failed").at(6).tells("A", "failed").exits(0, at=9)
    assert answers(told, "L13") == ["holds"]
    told = _both("", "failed").at(6).tells("A", "idle").exits(0, at=9)
    assert answers(told, "L13") == ["unknown"], "what it is told wrongly is another law's"


def test_it_is_broken_by_a_start_without_stop_that_the_runtime_no_longer_lists() -> None:
    told = Told("hooks", "hooks.jsonl").add(Kind.AGENT_STARTED, "A").at(20)
    told.add(Kind.STATUS, status="idle", open=[])
    assert answers(told, "L13") == ["broken:terminal_not_published"]
    assert answers(told, "L1") == ["unknown"]
    told = Told("hooks", "hooks.jsonl").add(Kind.AGENT_STARTED, "A").at(20)
    assert answers(told.add(Kind.STATUS, status="idle", open=["A"]), "L13") == ["unknown"]


def test_it_is_broken_by_a_list_that_keeps_the_dead() -> None:
    told = Told().begin().spawn("A").at(5).ends("A").at(90).add(Kind.REGISTRY, open=["A"])
    assert answers(told, "L13") == ["broken:views_disagree"]


def _span(seq: int, span: str, parent: str, op: str = "chat", **data: Any) -> Event:
    return Event(
        seq=seq,
        kind=Kind.SPAN,
        source="trace",
        file="trace.json",
        pointer=span,
        t=float(seq),
        agent=data.pop("agent", ""),
        data={"span": span, "parent": parent, "op": op, **data},
    )


def _trace(chat_parent: str) -> History:
    return History(
        [
            _span(1, "1", "", "invoke_agent", conversation="c0", agent="root"),
            _span(2, "2", "1", "execute_tool"),
            _span(3, "3", "2", "invoke_agent", conversation="ca", agent="A"),
            _span(4, "4", chat_parent, conversation="ca"),
        ]
    )


def test_it_reads_whose_a_span_is_by_its_conversation() -> None:
    assert answers(_trace("3"), "L13", "A") == ["holds"]
    assert answers(_trace("1"), "L13", "A") == ["broken:trace_parent_wrong"]


def test_it_is_broken_by_a_parent_that_the_export_does_not_hold() -> None:
    assert answers(_trace("77"), "L13", "A") == ["broken:trace_parent_wrong"]
    cut = History(_trace("77").events, complete=False)
    assert answers(cut, "L13", "A") == ["unknown"]


def test_it_does_not_know_from_one_view() -> None:
    assert answers(Told().begin().spawn("A").ends("A").shuts(3), "L13") == ["unknown"]
