"""L13: every view tells the same story."""

from __future__ import annotations

from typing import Any

from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.judge import judge
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


def test_a_list_of_the_background_says_nothing_of_one_that_may_be_in_the_foreground() -> None:
    def listed(**more: object) -> list[str]:
        told = Told("hooks", "hooks.jsonl").add(Kind.AGENT_STARTED, "A", **more).at(20)
        return answers(told.add(Kind.REGISTRY, open=[]), "L13")

    assert listed() == ["unknown"]
    assert listed(background=True) == ["broken:terminal_not_published"]
    before = (
        Told("hooks", "hooks.jsonl").add(Kind.AGENT_STARTED, "A").add(Kind.REGISTRY, open=["A"])
    )
    told = before.at(20).add(Kind.REGISTRY, open=[])
    assert answers(told, "L13") == ["broken:terminal_not_published"]


def test_a_view_that_stops_before_the_end_keeps_nothing_to_itself() -> None:
    told = Told().begin().spawn("A").at(5).view("stdout", "stdout.jsonl")
    told.at(1).add(Kind.AGENT_STARTED, "A", parent="root").says("root")
    told.view("session", "events.jsonl").at(5).ends("A", "failed").at(9).says("root").exits(0)
    assert answers(told, "L13") == ["unknown"]


def test_it_is_broken_by_a_list_that_keeps_the_dead() -> None:
    told = Told().begin().spawn("A").at(5).ends("A").at(90).add(Kind.REGISTRY, open=["A"])
    assert answers(told, "L13") == ["broken:views_disagree"]


def _left(what: str = "message", cut: str = "retry", end: str = "completed") -> Told:
    """A child's item that never ends; what a retry or nothing cut off, in a turn that ended."""
    told = Told("stdout", "rpc.jsonl").begin().spawn("A").at(1)
    told.add(Kind.ITEM_LEFT, "A", what=what, item="i").at(2)
    if cut == "retry":
        told.add(Kind.MODEL_RETRY, "A", attempt=1)
    told.at(5).ends("A", end).at(6).tells("A", end).at(7).says("root")
    return told.add(Kind.TURN_ENDED, status="completed").exits(0)


def test_it_is_broken_by_an_item_that_a_retry_left_without_an_end() -> None:
    judged = judge(_left().history())
    (finding,) = [one for one in judged.broken if one.law == "L13"]
    assert (finding.label, finding.agent, finding.because) == ("left_open", "A", "")
    assert [one.ref for one in finding.evidence] == ["rpc.jsonl:6", "rpc.jsonl:7", "rpc.jsonl:8"]
    assert judged.diagnosis == "terminal_not_published"
    assert judge(_left(end="failed").history()).diagnosis == "failed_and_reported"


def test_an_open_item_is_no_breach_where_nothing_cut_it_off_or_its_turn_still_runs() -> None:
    assert answers(_left(cut=""), "L13") == ["unknown"], "its end may be in a line that is gone"
    told = Told("stdout", "rpc.jsonl").begin().spawn("A").at(1)
    told.add(Kind.ITEM_LEFT, "A", what="message", item="i").at(2)
    assert answers(told.add(Kind.MODEL_RETRY, "A", attempt=1), "L13") == ["unknown"]
    assert answers(_left().history(complete=False), "L13") == ["unknown"]


def test_an_interrupt_ends_an_answer_but_not_a_call() -> None:
    assert "broken:left_open" not in answers(_left(cut="", end="interrupted"), "L13")
    assert "broken:left_open" in answers(_left("wait", "", "interrupted"), "L13")


def test_a_call_that_an_interrupt_left_open_follows_from_a_cancel_that_did_not_reach() -> None:
    told = Told("rpc", "rpc.jsonl").begin().spawn("A").at(2)
    told.add(Kind.ITEM_LEFT, what="wait", item="w").at(3)
    told.add(Kind.CANCEL_REQUESTED, target="root", by="user").at(3.1)
    told.add(Kind.TURN_ENDED, status="interrupted").at(9).ends("A").exits(0, at=10)
    judged = judge(told.history())
    (left,) = [one for one in judged.broken if one.label == "left_open"]
    assert (left.agent, left.because, judged.diagnosis) == ("root", "L7", "cancel_ignored")


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


def test_what_an_outermost_agents_span_hangs_under_may_hang_under_another_program() -> None:
    def under(parent: str) -> list[str]:
        told = Told("trace", "trace.json")
        told.add(Kind.SPAN, span="1", parent="far", op="cli.run")
        told.add(Kind.SPAN, span="2", parent=parent, op="invoke_agent", conversation="c")
        return answers(told.add(Kind.SPAN, span="3", parent="2", op="chat"), "L13")

    assert under("1") == ["holds"]
    assert under("") == ["broken:trace_parent_wrong"]


def test_it_does_not_know_from_one_view() -> None:
    assert answers(Told().begin().spawn("A").ends("A").shuts(3), "L13") == ["unknown"]


def test_hooks_that_leave_a_run_out_are_blamed_only_where_its_role_is_said() -> None:
    def seen(role: str) -> Told:
        told = Told().view("hooks", "hooks.jsonl").add(Kind.SESSION_STARTED)
        told.at(1).add(Kind.AGENT_STARTED, "H", parent="root", role=role).at(2)
        told.view("session", "events.jsonl").begin().at(3)
        told.add(Kind.AGENT_STARTED, "A", parent="root", role=role).at(4).ends("A")
        return told.view("hooks", "hooks.jsonl").at(6).ends("H", "stopped").shuts(9)

    assert answers(seen("reviewer"), "L13", "A") == ["broken:views_disagree"]
    assert answers(seen(""), "L13", "A") == []
