"""Codex's app-server traffic: items without an end, threads that are read and resumed."""

from __future__ import annotations

from typing import Any

import pytest

from runs.core.events import Draft, Kind
from runs.core.judge import judge
from runs.core.law import Finding
from runs.tests.transcripts.helpers import RECORDED, drafts_of, lines
from runs.transcript import Case, read_case

FORMAT = "codex-app-server-rpc"
ROOT, CHILD = "th-root", "th-child"


def said(method: str, **params: Any) -> dict[str, Any]:
    """One notification."""
    return {"method": method, "params": params}


def item(word: str, name: str, thread: str = CHILD, kind: str = "agentMessage") -> dict[str, Any]:
    """An item that begins or ends."""
    found = {"type": kind, "id": name, "text": "", "tool": "wait", "senderThreadId": thread}
    return said(f"item/{word}", threadId=thread, item=found)


def left(*records: dict[str, Any]) -> list[tuple[str, str, int | None]]:
    """What, which and where, of the items that the reader says have no end."""
    found = drafts_of(FORMAT, lines(records))
    return [
        (str(one.data["what"]), str(one.data["item"]), one.line)
        for one in found
        if one.kind is Kind.ITEM_LEFT
    ]


def test_an_item_without_an_end_stands_where_it_begins() -> None:
    found = left(
        item("started", "m1"),
        item("started", "w", ROOT, "collabAgentToolCall"),
        item("started", "m2"),
        item("completed", "m2"),
    )
    assert found == [("message", "m1", 1), ("wait", "w", 2)]


def test_an_end_that_stands_before_its_start_is_one() -> None:
    assert left(item("completed", "m1"), item("started", "m1"), item("started", "m2")) == [
        ("message", "m2", 3)
    ]


def test_a_client_that_keeps_no_ends_proves_none_missing() -> None:
    assert left(item("started", "m1"), item("started", "m2")) == []


def test_a_command_may_outlive_its_turn() -> None:
    command = item("started", "c", CHILD, "commandExecution")
    assert left(command, item("started", "m"), item("completed", "m")) == []


def _left_open(case: Case) -> list[Finding]:
    return [one for one in judge(case.history).broken if one.label == "left_open"]


@pytest.mark.parametrize("name", ["0.120.0/app-v2", "0.171.0/app-v2", "0.171.0/app-v1"])
def test_every_retry_of_codex_leaves_an_item_without_an_end(name: str) -> None:
    case = read_case([RECORDED / "codex" / f"{name}-clean-eof"])
    (child,) = case.history.children
    (finding,) = _left_open(case)
    assert (finding.law, finding.agent, finding.figures["items"]) == ("L13", child.id, 3)
    by_number = {event.seq: event for event in case.history.events}
    kinds = [by_number[one.seq].kind for one in finding.evidence]
    assert kinds.count(Kind.ITEM_LEFT) == 3 and Kind.AGENT_ENDED in kinds


def test_a_run_without_a_retry_leaves_none() -> None:
    assert _left_open(read_case([RECORDED / "codex/0.171.0/app-v2-success"])) == []


def _read(thread: str, status: str, name: str = "r", turn: str = "t1") -> list[dict[str, Any]]:
    found = {
        "id": thread,
        "status": {"type": "notLoaded"},
        "turns": [{"id": turn, "status": status}],
    }
    return [
        {"id": name, "method": "thread/read", "params": {"threadId": thread}},
        {"id": name, "result": {"thread": found}},
    ]


def _killed(*later: dict[str, Any]) -> list[Draft]:
    """What is read of a child and its parent at work, and a second process on the same home."""
    spawned = {"type": "subAgentActivity", "id": "s", "kind": "started", "agentThreadId": CHILD}
    turns = [said("turn/started", threadId=one, turn={"id": "t1"}) for one in (ROOT, CHILD)]
    before = [
        {"id": 1, "method": "initialize", "params": {}},
        {"id": 2, "method": "thread/start", "params": {}},
        {"id": 2, "result": {"thread": {"id": ROOT}}},
        *turns,
        said("item/started", threadId=ROOT, item=spawned),
        item("started", "m1"),
        {"id": 1, "method": "initialize", "params": {}},
    ]
    return drafts_of(FORMAT, lines([*before, *later, item("completed", "m9")]))


def test_a_new_process_that_knows_a_thread_of_before_has_resumed_its_session_once() -> None:
    found = _killed(*_read(ROOT, "interrupted"), *_read(CHILD, "interrupted"))
    (resumed,) = [one for one in found if one.kind is Kind.SESSION_RESUMED]
    assert (resumed.agent, resumed.line) == (ROOT, 10)
    assert not [one for one in found if one.kind is Kind.ITEM_LEFT], "who began it is dead"


def test_what_a_store_says_of_a_turn_that_was_cut_off_is_its_end_as_inferred() -> None:
    found = _killed(*_read(ROOT, "interrupted"), *_read(CHILD, "interrupted"))
    (ended,) = [one for one in found if one.kind is Kind.AGENT_ENDED]
    assert (ended.agent, ended.data["status"], ended.data["inferred"]) == (
        CHILD,
        "interrupted",
        True,
    )
    (turn,) = [one for one in found if one.kind is Kind.TURN_ENDED]
    assert (turn.agent, turn.data["status"]) == (ROOT, "interrupted")


def test_a_store_that_repeats_what_was_said_or_means_another_turn_ends_nothing() -> None:
    over = said("turn/completed", threadId=CHILD, turn={"id": "t1", "status": "completed"})
    found = _killed(over, *_read(CHILD, "completed"), *_read(ROOT, "interrupted", turn="t0"))
    assert len([one for one in found if one.kind is Kind.AGENT_ENDED]) == 1
    assert not [one for one in found if one.kind is Kind.TURN_ENDED]


@pytest.mark.parametrize(("turn", "begun"), [("t1", 1), ("older-turn", 0)])
def test_a_card_of_an_earlier_turn_begins_no_child(turn: str, begun: int) -> None:
    card = {"type": "subAgentActivity", "id": "s", "kind": "started", "agentThreadId": CHILD}
    found = drafts_of(
        FORMAT,
        lines(
            [
                said("turn/started", threadId=ROOT, turn={"id": "t1"}),
                said("item/completed", threadId=ROOT, turnId=turn, item=card),
            ]
        ),
    )
    assert len([one for one in found if one.kind is Kind.AGENT_STARTED]) == begun
