"""The steps of a turn, and the client's answers to what they ask."""

from __future__ import annotations

from typing import Any

import pytest

from fakes.codex_app_server.harness import Harness
from fakes.codex_app_server.step import ScenarioError, kinds
from fakes.tests.codex_app_server.client import Client

COMMAND = "item/commandExecution/requestApproval"
ASKING = {
    "kind": "command",
    "command": "make",
    "output": "ok\n",
    "approval": True,
    "reason": "to build",
}


def play(fake: Harness, *steps: dict[str, Any], **more: Any) -> tuple[Client, str]:
    """A client with a turn of these steps begun; its thread."""
    fake.set_scenario({"turns": [{"steps": list(steps)}], **more})
    client = Client(fake).initialize()
    thread = client.thread()
    client.turn(thread)
    return client, thread


def last_item(fake: Harness, thread: str) -> dict[str, Any]:
    item: dict[str, Any] = fake.threads()[thread]["turns"][-1]["items"][-1]
    return item


def test_it_has_all_the_kinds_of_steps() -> None:
    first = "reasoning command message message_partial usage compaction error_note fail crash"
    agents = "spawn child child_ends wait interact close activity"
    trouble = "again reorder drop hold mark turn notify status ask"
    names = f"{first} progress permissions grandchild {agents} {trouble}".split()
    assert set(kinds()) == set(names)
    assert all(step.play.__doc__ for step in kinds().values())


def test_reasoning_commands_usage_and_compaction_show_as_items_and_numbers(fake: Harness) -> None:
    usage = {"kind": "usage", "input": 10, "cached": 2, "output": 5, "reasoning": 1, "window": 99}
    client, thread = play(
        fake,
        {"kind": "reasoning", "summary": "Plan", "content": "First this"},
        {"kind": "command", "command": "false", "output": "no\n", "exit_code": 1, "cwd": "/work"},
        usage,
        usage,
        {"kind": "compaction"},
    )
    with client:
        client.notified("turn/completed")
    _, thought, command, compaction = fake.threads()[thread]["turns"][0]["items"]
    assert (thought["summary"], thought["content"]) == (["Plan"], ["First this"])
    assert (command["status"], command["exitCode"], command["cwd"]) == ("failed", 1, "/work")
    assert command["aggregatedOutput"] == "no\n"
    assert compaction["type"] == "contextCompaction"
    told = [one["params"]["tokenUsage"] for one in fake.notifications("thread/tokenUsage/updated")]
    assert told[1]["last"]["totalTokens"] == 15 and told[1]["total"]["totalTokens"] == 30
    assert told[1]["total"]["cachedInputTokens"] == 4 and told[1]["modelContextWindow"] == 99
    deltas = {"item/reasoning/summaryTextDelta", "item/reasoning/textDelta"}
    assert deltas <= set(client.methods())


def test_the_client_decides_about_a_command_fx_5_fx_18(fake: Harness) -> None:
    amended = {"acceptWithExecpolicyAmendment": {"execpolicy_amendment": ["make"]}}
    expected = [
        ("accept", "completed", 0, "completed"),
        ("acceptForSession", "completed", 0, "completed"),
        (amended, "completed", 0, "completed"),
        ("decline", "declined", None, "completed"),
        ("cancel", "declined", None, "interrupted"),
    ]
    fake.set_scenario({"turns": [{"steps": [ASKING]}] * len(expected)})
    with Client(fake).initialize() as client:
        thread = client.thread()
        found = []
        for decision, *_ in expected:
            client.turn(thread)
            asked = client.until(lambda one: one.get("method") == COMMAND)
            assert (asked["params"]["command"], asked["params"]["reason"]) == ("make", "to build")
            client.send({"id": asked["id"], "result": {"decision": decision}})
            turn = client.notified("turn/completed")["turn"]
            item = last_item(fake, thread)
            found.append((decision, item["status"], item["exitCode"], turn["status"]))
    assert found == expected
    resolved = [one["params"]["requestId"] for one in fake.notifications("serverRequest/resolved")]
    assert resolved == list(range(len(expected)))
    assert [one["result"]["decision"] for one in fake.replies_to(COMMAND)] == [
        decision for decision, *_ in expected
    ]
    fake.assert_wire_clean()


def test_a_wrong_decision_is_a_violation_and_declines_fx_5(fake: Harness) -> None:
    wrong = {
        "missing field `decision`": {},
        "unknown variant `yes`, expected one of `accept`, `acceptForSession`": {"decision": "yes"},
        "invalid type: integer `1`, expected unit": {"decision": {"accept": 1}},
    }
    client, thread = play(fake, *[ASKING] * len(wrong))
    with client:
        for result in wrong.values():
            asked = client.until(lambda one: one.get("method") == COMMAND)
            client.send({"id": asked["id"], "result": result})
        client.notified("turn/completed")
    assert [text in found for text, found in zip(wrong, fake.violations(), strict=True)] == [
        True
    ] * 3
    items = fake.threads()[thread]["turns"][0]["items"][1:]
    assert [item["status"] for item in items] == ["declined"] * 3


def test_an_unanswered_question_declines_in_the_end_fx_18(fake: Harness) -> None:
    client, thread = play(fake, ASKING, patience=0.05)
    with client:
        client.notified("turn/completed")
    assert last_item(fake, thread)["status"] == "declined"
    (event,) = fake.events("server_request_unanswered")
    assert (event["method"], event["id"]) == (COMMAND, 0)


FORM = {
    "serverName": "docs",
    "mode": "form",
    "message": "Which?",
    "requestedSchema": {"type": "object", "properties": {}},
}
QUESTIONS: list[tuple[dict[str, Any], Any, Any]] = [
    (
        {"kind": "permissions", "reason": "to fetch"},
        {"permissions": {"network": {"enabled": True}}, "scope": "session"},
        {"permissions": {}, "scope": "forever"},
    ),
    (
        {"kind": "ask", "method": "item/fileChange/requestApproval"},
        {"decision": "acceptForSession"},
        {"decision": "maybe"},
    ),
    (
        {"kind": "ask", "method": "mcpServer/elicitation/request", "params": FORM},
        {"action": "accept", "content": {}},
        {"action": "shrug"},
    ),
]


def test_answers_to_other_questions_are_checked_too_fx_5(fake: Harness) -> None:
    steps = [step for step, *_ in QUESTIONS for _ in range(3)]
    answers = [one for _, good, bad in QUESTIONS for one in (good, bad, {**good, "why": "so"})]
    client, _ = play(fake, *steps)
    with client:
        for result in answers:
            asked = client.until(lambda one: "method" in one and "id" in one)
            client.send({"id": asked["id"], "result": result})
        client.notified("turn/completed")
    for word, found in zip(("forever", "maybe", "shrug"), fake.violations(), strict=True):
        assert f"unknown variant `{word}`, expected " in found
    assert fake.ignored_fields() == [
        "item/permissions/requestApproval $.why",
        "item/fileChange/requestApproval $.why",
        "mcpServer/elicitation/request $.why",
    ]


def test_a_grandchild_outlives_its_server_until_it_is_released_fx_10(fake: Harness) -> None:
    client, _ = play(fake, {"kind": "grandchild"})
    with client:
        client.notified("turn/completed")
    (pid,) = fake.grandchild_pids()
    assert fake.alive(pid) and not fake.alive(client.process.pid)
    fake.cleanup()
    assert not fake.alive(pid)


def test_progress_ticks_and_ends(fake: Harness) -> None:
    client, thread = play(fake, {"kind": "progress", "seconds": 0.1, "interval": 0.05, "text": "."})
    with client:
        client.notified("turn/completed")
    assert last_item(fake, thread)["aggregatedOutput"] == ".."


@pytest.mark.parametrize(
    ("scenario", "text"),
    [
        ({"turn": []}, "scenario.turn is unknown"),
        ({"turns": [{"step": []}]}, "turns[0].step is unknown"),
        ({"turns": [{"ack": "soon"}]}, "turns[0].ack"),
        ({"turns": [{"buffered": True}]}, "turns[0].buffered: `after` has to begin with a turn"),
        ({"turns": [{"steps": [{"kind": "sing"}]}]}, "turns[0].steps[0]: no step 'sing'"),
        ({"turns": [{"steps": [{"kind": "message"}]}]}, "message needs text"),
        ({"turns": [{"steps": [{"kind": "message", "text": 5}]}]}, "5 is of the wrong type"),
        ({"turns": [{"steps": [{"kind": "mark", "name": "a", "at": 1}]}]}, "at is unknown to mark"),
        (
            {"turns": [{"steps": [{"kind": "wait", "steps": [{"kind": "x"}]}]}]},
            "turns[0].steps[0].steps[0]: no step 'x'",
        ),
        ({"agents": "v3"}, "v1 or v2"),
        ({"patience": "long"}, "patience: 'long' is of the wrong type"),
        ({"answers": []}, "answers: [] is of the wrong type"),
    ],
)
def test_a_mistake_in_a_scenario_is_loud(fake: Harness, scenario: Any, text: str) -> None:
    with pytest.raises(ScenarioError) as wrong:
        fake.set_scenario(scenario)
    assert text in str(wrong.value)


def test_a_step_that_cannot_be_played_fails_its_turn_loudly(fake: Harness) -> None:
    client, _ = play(fake, {"kind": "child_ends", "child": "nobody"})
    with client:
        turn = client.notified("turn/completed")["turn"]
    assert turn["error"]["message"] == "scenario: no sub-agent 'nobody' was spawned"
    assert fake.events("scenario_error")
