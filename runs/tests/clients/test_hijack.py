"""A client that leaves when a child's turn ends, while its own turn runs: a finding of L16."""

from __future__ import annotations

import json
from typing import Any

from runs.clients import Transcript, plays
from runs.core.events import Draft, Kind, number
from runs.core.history import History
from runs.core.judge import judge
from runs.core.law import Verdict
from runs.core.laws.l16_honest_exit import EXITING

P, C = "parent", "child"


def _lines(parent_ends: bool) -> list[dict[str, Any]]:
    activity = {"type": "subAgentActivity", "id": "a", "kind": "started", "agentThreadId": C}
    said: list[tuple[str, dict[str, Any]]] = [
        ("thread/started", {"thread": {"id": P}}),
        ("turn/started", {"threadId": P, "turn": {"id": "t1"}}),
        ("item/completed", {"threadId": P, "turnId": "t1", "item": activity}),
        ("turn/started", {"threadId": C, "turn": {"id": "c1"}}),
        ("turn/completed", {"threadId": C, "turn": {"id": "c1", "status": "completed"}}),
    ]
    done = {**activity, "id": "subagent-completed-c1", "kind": "completed"}
    said.append(("item/completed", {"threadId": P, "turnId": "t1", "item": done}))
    if parent_ends:
        turn = {"id": "t1", "status": "completed"}
        said.append(("turn/completed", {"threadId": P, "turn": turn}))
    return [
        {"pid": 1, "t": place * 1.0, "dir": "out", "msg": {"method": method, "params": params}}
        for place, (method, params) in enumerate(said)
    ]


def _history(parent_ends: bool) -> History:
    reader = Transcript("rpc.jsonl")
    drafts: list[Draft] = []
    for place, line in enumerate(_lines(parent_ends), 1):
        drafts += reader.feed(json.dumps(line).encode() + b"\n", place, 0)
    gone = Draft(
        kind=Kind.PROCESS_EXITED, source="process", file="process", at=9.0, data={"code": 0}
    )
    return History([number(one, seq, one.at) for seq, one in enumerate([*drafts, gone], 1)])


def test_it_finds_a_turn_left_open_after_the_childs_end() -> None:
    judged = judge(_history(parent_ends=False))
    (finding,) = [one for one in judged.broken if one.law == "L16"]
    assert finding.label == "early_exit_root_cut"
    assert [one.ref for one in finding.evidence] == ["rpc.jsonl:2", "rpc.jsonl:5", "process"]
    assert judged.diagnosis == "early_exit_root_cut"


def test_it_finds_nothing_where_the_parents_turn_ended() -> None:
    assert judge(_history(parent_ends=True)).verdict("L16") is Verdict.HOLDS


def test_the_idle_of_the_stand_in_is_not_that_of_its_client() -> None:
    reader = Transcript("rpc.jsonl")
    idle = {"threadId": P, "status": {"type": "idle"}}
    lines = [*_lines(parent_ends=False)]
    lines.insert(4, {"t": 3.5, "msg": {"method": "thread/status/changed", "params": idle}})
    lines.append({"t": 8.0, "msg": {"method": "thread/status/changed", "params": idle}})
    drafts = [
        draft
        for place, line in enumerate(lines, 1)
        for draft in reader.feed(json.dumps(line).encode() + b"\n", place, 0)
    ]
    told = [(one.data["status"], one.data["raw"]) for one in drafts if one.kind is Kind.STATUS]
    assert told == [("waiting", "idle"), ("idle", "idle")]


def test_every_play_says_what_it_asks() -> None:
    assert all(play.title and play.question.endswith("?") for play in plays().values())


def test_a_child_that_outlives_its_parent_works_far_longer_than_a_client_takes_to_leave() -> None:
    after = plays()["child-outlives"].scenario["turns"][0]["after"]
    (child,) = [step for step in after if step["kind"] == "child"]
    works = sum(step.get("seconds", 0.0) for step in child["steps"])
    assert works >= 5 * EXITING
