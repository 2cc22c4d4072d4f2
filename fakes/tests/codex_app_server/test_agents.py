"""Sub-agents in both systems, and what can go wrong between a server and its client."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.codex_app_server.harness import Harness
from fakes.tests.codex_app_server.client import Client

Steps = list[dict[str, Any]]
DONE: dict[str, Any] = {"kind": "message", "text": "Done", "phase": "final_answer"}
CHILD: Steps = [
    {"kind": "child", "child": "a", "steps": [{"kind": "message", "text": "CHILD-OK"}]},
    {"kind": "child_ends", "child": "a"},
]
SPAWN: dict[str, Any] = {"kind": "spawn", "child": "a", "prompt": "Look"}


def run(fake: Harness, *turns: dict[str, Any], agents: str = "v2") -> tuple[Client, str]:
    """A client with the first of these turns begun; its thread."""
    fake.set_scenario({"agents": agents, "turns": list(turns)})
    client = Client(fake).initialize()
    thread = client.thread()
    client.turn(thread)
    return client, thread


def shown(fake: Harness, parent: str) -> list[str]:
    """What was said, in short words: whose thread, what."""
    found = []
    for message in fake.notifications():
        params = message["params"]
        method, item = message["method"], params.get("item", {})
        if method in ("thread/started", "item/agentMessage/delta") or item.get("type") in (
            "userMessage",
        ):
            continue
        what = item.get("tool") or item.get("kind") or item.get("type") or ""
        status = item.get("status") or params.get("status", params.get("turn", {}))
        status = status if isinstance(status, str) else status.get("type", status.get("status"))
        who = "P" if params["threadId"] == parent else "C"
        found.append(" ".join(filter(None, (who, method, what, status))))
    return found


def test_v2_shows_activities_as_measured_fx_25(fake: Harness) -> None:
    wait = {"kind": "wait", "children": ["a"], "steps": CHILD}
    client, thread = run(fake, {"steps": [SPAWN, wait, DONE]})
    with client:
        client.notified("turn/completed", thread)
    assert shown(fake, thread) == [
        "P thread/status/changed active",
        "P turn/started inProgress",
        "C thread/status/changed idle",
        "P item/started started",
        "P item/completed started",
        "C thread/status/changed active",
        "C turn/started inProgress",
        "P item/started wait inProgress",
        "C item/started agentMessage",
        "C item/completed agentMessage",
        "C thread/status/changed idle",
        "C turn/completed completed",
        "P item/started completed",
        "P item/completed completed",
        "P item/completed wait completed",
        "P item/started agentMessage",
        "P item/completed agentMessage",
        "P thread/status/changed idle",
        "P turn/completed completed",
    ]
    items = fake.threads()[thread]["turns"][0]["items"]
    started, ended = [item for item in items if item["type"] == "subAgentActivity"]
    (child,) = [one for one in fake.threads() if one != thread]
    assert started["agentThreadId"] == ended["agentThreadId"] == child
    assert started["agentPath"] == "/root/a"
    assert ended["id"] == f"subagent-completed-{fake.threads()[child]['turns'][0]['id']}"
    assert fake.threads()[child]["parentThreadId"] == thread


def test_v1_shows_calls_with_receivers_and_states_fx_25(fake: Harness) -> None:
    wait = {"kind": "wait", "children": ["a"], "steps": CHILD}
    close = {"kind": "close", "child": "a"}
    client, thread = run(fake, {"steps": [SPAWN, wait, close, DONE]}, agents="v1")
    with client:
        client.notified("turn/completed", thread)
    (child,) = [one for one in fake.threads() if one != thread]
    calls = [
        (item["tool"], item["status"], item["receiverThreadIds"], item["agentsStates"][child])
        for item in fake.threads()[thread]["turns"][0]["items"]
        if item["type"] == "collabAgentToolCall"
    ]
    running = {"status": "running", "message": None}
    assert calls == [
        ("spawnAgent", "completed", [child], running),
        ("wait", "completed", [child], {"status": "completed", "message": "CHILD-OK"}),
        ("closeAgent", "completed", [child], {"status": "shutdown", "message": "CHILD-OK"}),
    ]
    assert "P item/started started" not in shown(fake, thread)


def test_a_failing_child_shows_in_v1_and_is_hidden_in_v2_fx_25(fake: Harness) -> None:
    failure = {"kind": "child_ends", "child": "a", "status": "failed", "retries": 2}
    steps = [SPAWN, {"kind": "wait", "children": ["a"], "steps": [{**failure, "message": "cut"}]}]
    for agents, status in (("v1", "failed"), ("v2", "completed")):
        fake.rewind()
        client, thread = run(fake, {"steps": [*steps, DONE]}, agents=agents)
        with client:
            assert client.notified("turn/completed", thread)["turn"]["status"] == "completed"
        ended = [one for one in client.seen if one.get("method") == "turn/completed"]
        assert ended[0]["params"]["turn"]["error"]["message"] == "cut"
        errors = [one["params"] for one in client.seen if one.get("method") == "error"]
        assert [error["willRetry"] for error in errors] == [True, True, False]
        waits = [
            item["status"]
            for item in fake.threads()[thread]["turns"][0]["items"]
            if item.get("tool") == "wait"
        ]
        assert waits == [status]


def test_a_child_outlives_its_parent_s_turn_until_the_test_lets_it_end(fake: Harness) -> None:
    follow_up = {"kind": "turn", "steps": [{"kind": "message", "text": "Consolidated"}]}
    after = [{"kind": "hold", "name": "child"}, *CHILD, follow_up]
    client, thread = run(fake, {"steps": [SPAWN, DONE], "after": after})
    with client:
        first = client.notified("turn/completed", thread)["turn"]["id"]
        fake.wait_for_event("hold", name="child")
        assert not fake.events("released")
        fake.release("child")
        second = client.notified("turn/completed", thread)["turn"]
    assert second["id"] != first and second["items"][0]["text"] == "Consolidated"
    assert [turn["id"] for turn in fake.threads()[thread]["turns"]] == [first, second["id"]]
    assert len(fake.requests("turn/start")) == 1


def test_children_are_spoken_to_interrupted_and_left_without_end(fake: Harness) -> None:
    steps: Steps = [
        SPAWN,
        {"kind": "spawn", "child": "b"},
        {"kind": "spawn", "child": "idle", "works": False},
        *CHILD,
        {"kind": "interact", "child": "a", "text": "Once more"},
        {"kind": "close", "child": "a"},
        {"kind": "wait", "children": ["b"], "ends": False},
        DONE,
    ]
    client, thread = run(fake, {"steps": steps})
    with client:
        client.notified("turn/completed", thread)
    turns = {
        one["agentPath"]: [turn["status"] for turn in one["turns"]]
        for name, one in fake.threads().items()
        if name != thread
    }
    assert turns == {
        "/root/a": ["completed", "interrupted"],
        "/root/b": [],
        "/root/idle": [],
    }
    said = shown(fake, thread)
    assert "P item/completed interacted" in said and "P item/completed interrupted" in said
    assert said.count("C turn/started inProgress") == 3
    assert "P item/completed wait completed" not in said


def test_a_client_may_interrupt_a_child_without_its_parent(fake: Harness) -> None:
    working = [{"kind": "progress", "seconds": 60, "interval": 0.05}]
    steps: Steps = [
        SPAWN,
        {"kind": "hold", "name": "idle child"},
        {"kind": "child_ends", "child": "a"},
        {"kind": "child", "child": "a", "new_turn": True, "steps": working},
        {"kind": "child", "child": "a", "steps": [{"kind": "message", "text": "late"}]},
        {
            "kind": "child",
            "child": "a",
            "new_turn": True,
            "steps": [{"kind": "fail", "message": "x"}],
        },
        DONE,
    ]
    client, thread = run(fake, {"steps": steps})
    with client:
        fake.wait_for_event("hold", name="idle child")
        child = next(name for name in fake.threads() if name != thread)
        for _ in range(2):
            turn = client.notified("turn/started", child)["turn"]["id"]
            client.ask("turn/interrupt", {"threadId": child, "turnId": turn})
            ended = client.notified("turn/completed", child)["turn"]
            assert (ended["id"], ended["status"]) == (turn, "interrupted")
            fake.release("idle child")
        assert client.notified("turn/completed", thread)["turn"]["status"] == "completed"
    statuses = [turn["status"] for turn in fake.threads()[child]["turns"]]
    assert statuses == ["interrupted", "interrupted", "failed"]


def test_notifications_come_late_twice_and_in_another_order(fake: Harness) -> None:
    steps: Steps = [
        SPAWN,
        *CHILD,
        {"kind": "activity", "child": "a", "activity": "interacted"},
        {"kind": "again", "method": "turn/completed", "child": "a"},
        {"kind": "again", "method": "turn/started"},
        {"kind": "child", "child": "a", "steps": [{"kind": "message", "text": "late"}]},
        {"kind": "reorder", "steps": [DONE]},
        {"kind": "notify", "method": "x/y", "params": {"of": ["$a.thread", "$thread", "$turn"]}},
        {"kind": "status", "status": "systemError"},
    ]
    client, thread = run(fake, {"steps": steps})
    with client:
        turn = client.notified("turn/completed", thread)["turn"]["id"]
    methods = client.methods()
    child = next(name for name in fake.threads() if name != thread)
    assert methods.count("x/y") == 1
    assert fake.notifications("x/y")[0]["params"] == {"of": [child, thread, turn]}
    completed = [one["params"] for one in fake.notifications("turn/completed")]
    assert [one["threadId"] for one in completed] == [child, child, thread]
    assert completed[0] == completed[1]
    started = [one["params"]["threadId"] for one in fake.notifications("turn/started")]
    assert started == [thread, child, thread]
    at = methods.index("x/y")
    assert methods[at - 3 : at] == ["item/completed", "item/agentMessage/delta", "item/started"]


@pytest.mark.parametrize("ack", ["lost", "late"])
def test_an_acknowledgement_is_lost_or_late(fake: Harness, ack: str) -> None:
    fake.set_scenario({"turns": [{"ack": ack, "steps": [DONE]}]})
    with Client(fake).initialize() as client:
        thread = client.thread()
        number = client.request("turn/start", {"threadId": thread, "input": []})
        turn = client.notified("turn/completed")["turn"]["id"]
        if ack == "late":
            assert client.answer(number)["result"]["turn"]["id"] == turn
    replies = [one for one in client.seen if one.get("id") == number]
    assert len(replies) == (ack == "late")
    assert [entry["turn"] for entry in fake.events("ack_lost")] == [turn] * (ack == "lost")


def test_a_turn_begins_late_or_never(fake: Harness) -> None:
    held = {"ack": "lost", "before": [{"kind": "hold", "name": "late"}], "steps": [DONE]}
    fake.set_scenario({"turns": [held, {"steps": [DONE], "ends": False}]})
    with Client(fake).initialize() as client:
        thread = client.thread()
        client.request("turn/start", {"threadId": thread, "input": []})
        fake.wait_for_event("hold", name="late")
        assert "turn/started" not in client.methods()
        fake.release("late")
        client.notified("turn/completed")
        client.turn(thread)
        client.notified("item/completed")
        client.notified("item/completed")
        assert client.ask("thread/read", {"threadId": thread})["thread"]["status"] == {
            "type": "active",
            "activeFlags": [],
        }
    assert len(fake.threads()[thread]["turns"]) == 1


def test_a_connection_drops_with_or_without_its_process(fake: Harness) -> None:
    lives = [{"kind": "drop", "lives": True}, {"kind": "message", "text": "unheard"}]
    for steps in ([{"kind": "drop"}], lives):
        fake.rewind()
        client, thread = run(fake, {"steps": steps})
        client.ended()
        assert "turn/completed" not in client.methods()
        if steps is lives:
            fake.wait_for(lambda one: one.get("msg", {}).get("method") == "turn/completed")
        assert client.hang_up() == 0
        assert len(fake.threads()[thread]["turns"]) == (steps is lives)
    assert [entry["lives"] for entry in fake.events("drop")] == [False, True]
