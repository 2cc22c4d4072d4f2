"""Turns: their shape and their ends."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from fakes.codex_app_server.harness import Harness
from fakes.codex_app_server.world import world
from fakes.tests.codex_app_server.client import Client

LONG = {"kind": "progress", "seconds": 60, "interval": 0.05, "text": "tick"}


def script(fake: Harness, *turns: list[dict[str, Any]], **more: Any) -> None:
    fake.set_scenario({"turns": [{"steps": steps} for steps in turns], **more})


def test_it_plays_a_turn_in_its_shape_and_stores_it_before_its_end_fx_13(fake: Harness) -> None:
    script(fake, [{"kind": "message", "text": "Hello there", "chunks": 2}])
    with Client(fake).initialize() as client:
        thread = client.thread()
        answer = client.ask(
            "turn/start", {"threadId": thread, "input": [{"type": "text", "text": "Hi"}]}
        )["turn"]
        assert (answer["items"], answer["status"]) == ([], "inProgress")
        ended = client.notified("turn/completed")["turn"]
        (kept,) = fake.threads()[thread]["turns"]
        assert kept["id"] == ended["id"] == answer["id"]
        assert [item["type"] for item in kept["items"]] == ["userMessage", "agentMessage"]
        assert ended["status"] == kept["status"] == "completed"
    said = [one for one in client.methods() if not one.startswith("thread/")]
    assert said == [
        "turn/started",
        "item/started",
        "item/completed",
        "item/started",
        "item/agentMessage/delta",
        "item/agentMessage/delta",
        "item/completed",
        "turn/completed",
    ]
    assert client.seen.index({"id": 3, "result": {"turn": answer}}) < len(client.seen) - len(said)
    fake.assert_wire_clean()


def test_it_echoes_no_user_message_for_an_empty_input(fake: Harness) -> None:
    script(fake, [{"kind": "message", "text": "All done", "phase": "final_answer"}])
    with Client(fake).initialize() as client:
        thread = client.thread()
        client.play(thread, "")
    (turn,) = fake.threads()[thread]["turns"]
    assert [(item["type"], item["phase"]) for item in turn["items"]] == [
        ("agentMessage", "final_answer")
    ]


def test_it_interrupts_at_the_next_tick_having_answered_at_once_fx_14(fake: Harness) -> None:
    script(fake, [LONG, {"kind": "message", "text": "never said"}])
    with Client(fake).initialize() as client:
        thread = client.thread()
        turn = client.turn(thread)
        client.notified("item/commandExecution/outputDelta")
        assert client.ask("turn/interrupt", {"threadId": thread, "turnId": turn}) == {}
        assert client.notified("turn/completed")["turn"]["status"] == "interrupted"
    assert fake.threads()[thread]["turns"][0]["status"] == "interrupted"


def test_it_plays_no_further_step_once_interrupted_fx_14(fake: Harness) -> None:
    steps = [
        {"kind": "hold", "name": "gate", "interruptible": False},
        {"kind": "message", "text": "never said"},
    ]
    script(fake, steps)
    with Client(fake).initialize() as client:
        thread = client.thread()
        turn = client.turn(thread)
        fake.wait_for_event("hold", name="gate")
        client.ask("turn/interrupt", {"threadId": thread, "turnId": turn})
        fake.release("gate")
        assert client.notified("turn/completed")["turn"]["status"] == "interrupted"
    assert "item/agentMessage/delta" not in client.methods()


def test_it_takes_every_steer_fx_20(fake: Harness) -> None:
    script(fake, [{"kind": "hold", "name": "gate"}])
    with Client(fake).initialize() as client:
        thread = client.thread()
        client.turn(thread)
        given = [{"type": "text", "text": "rather this"}]
        steer = {"threadId": thread, "input": given, "expectedTurnId": "another"}
        assert client.ask("turn/steer", steer) == {"turnId": "another"}
        fake.release("gate")
        client.notified("turn/completed")
    said = [item["content"][0]["text"] for item in fake.threads()[thread]["turns"][0]["items"]]
    assert said == ["Hello", "rather this"]


def test_what_joins_a_turn_before_it_begins_comes_after_its_own_input(fake: Harness) -> None:
    early = {"before": [{"kind": "hold", "name": "early"}], "steps": []}
    fake.set_scenario({"turns": [early]})
    with Client(fake).initialize() as client:
        thread = client.thread()
        turn = client.turn(thread)
        given = [{"type": "text", "text": "rather this"}]
        client.ask("turn/steer", {"threadId": thread, "input": given, "expectedTurnId": turn})
        fake.release("early")
        client.notified("turn/completed")
    said = [item["content"][0]["text"] for item in fake.threads()[thread]["turns"][0]["items"]]
    assert said == ["Hello", "rather this"]


def test_a_strict_script_refuses_mismatches_as_the_real_server_does(fake: Harness) -> None:
    script(fake, [{"kind": "hold", "name": "gate"}], strict=True)
    with Client(fake).initialize() as client:
        thread = client.thread()
        wrong = {"threadId": thread, "turnId": "another"}
        assert client.refusal("turn/interrupt", wrong) == "no active turn to interrupt"
        turn = client.turn(thread)
        steer = {"threadId": thread, "input": [], "expectedTurnId": "another"}
        assert client.refusal("turn/steer", steer) == (
            f"expected active turn id `another` but found `{turn}`"
        )
        steer["expectedTurnId"] = turn
        assert client.refusal("turn/steer", steer) == "input must not be empty"
        assert client.refusal("turn/interrupt", wrong) == (
            f"expected active turn id another but found {turn}"
        )
        assert client.refusal("turn/start", {"threadId": "ab-cd", "input": []}) == (
            "invalid thread id: invalid group count: expected 5, found 2"
        )
        fake.release("gate")
        client.notified("turn/completed")


def test_input_for_an_open_turn_joins_it(fake: Harness) -> None:
    script(fake, [{"kind": "hold", "name": "gate"}], [{"kind": "message", "text": "second"}])
    with Client(fake).initialize() as client:
        thread = client.thread()
        first = client.turn(thread)
        assert client.turn(thread, "more") == first
        empty = client.answer(client.request("turn/start", {"threadId": thread, "input": []}))
        assert empty["error"] == {
            "code": -32603,
            "message": "failed to submit turn input: EmptyInput",
        }
        fake.release("gate")
        client.notified("turn/completed")
        assert client.play(thread)["items"][0]["text"] == "second"


def test_it_compacts_in_a_turn_of_its_own_without_input_fx_19(fake: Harness) -> None:
    with Client(fake).initialize() as client:
        thread = client.thread()
        assert client.ask("thread/compact/start", {"threadId": thread}) == {}
        client.notified("turn/completed")
    (turn,) = fake.threads()[thread]["turns"]
    assert [item["type"] for item in turn["items"]] == ["contextCompaction"]


def test_it_says_unscripted_past_the_script_fx_12(fake: Harness) -> None:
    script(fake, [{"kind": "message", "text": "scripted"}])
    with Client(fake).initialize() as client:
        thread = client.thread()
        texts = [client.play(thread)["items"][0]["text"] for _ in range(3)]
    assert texts == ["scripted", "(unscripted)", "(unscripted)"]


def test_what_is_held_leaves_in_one_write(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written: list[bytes] = []
    really = os.write

    def write(to: int, data: bytes) -> int:
        return really(to, data) if to != 1 else written.append(data) or len(data)

    monkeypatch.setattr(os, "write", write)
    wire = world(tmp_path).wire
    wire.hold()
    for method in ("turn/completed", "turn/started"):
        wire.say({"method": method, "params": {}})
        wire.hold()  # a turn on another thread may hold as well
    assert written == []
    wire.release()
    wire.say({"method": "turn/completed", "params": {}})
    assert [data.count(b"\n") for data in written] == [2, 1]


def test_a_buffered_follow_up_is_there_with_the_end_before_it(fake: Harness) -> None:
    after = [{"kind": "turn", "steps": [{"kind": "hold", "name": "open"}]}]
    done = {"kind": "message", "text": "Done"}
    fake.set_scenario({"turns": [{"steps": [done], "buffered": True, "after": after}]})
    with Client(fake).initialize() as client:
        thread = client.thread()
        client.play(thread, "Hi")
        follow_up = client.notified("turn/started", thread)["turn"]["id"]
        fake.release("open")
        assert client.notified("turn/completed", thread)["turn"]["id"] == follow_up


def test_a_start_error_is_given_as_scripted_and_consumes_its_turn_fx_11_fx_28(
    fake: Harness,
) -> None:
    turns = [{"start_error": "quota exceeded"}, {"steps": [{"kind": "message", "text": "two"}]}]
    fake.set_scenario({"turns": turns})
    with Client(fake).initialize() as client:
        thread = client.thread()
        assert client.refusal("turn/start", {"threadId": thread, "input": []}) == "quota exceeded"
        assert client.play(thread)["items"][0]["text"] == "two"
    assert [turn["status"] for turn in fake.threads()[thread]["turns"]] == ["completed"]


def test_a_failing_turn_says_why_and_is_stored_as_failed(fake: Harness) -> None:
    script(fake, [{"kind": "fail", "message": "boom"}, {"kind": "message", "text": "never"}])
    with Client(fake).initialize() as client:
        thread = client.thread()
        turn = client.play(thread)
    assert (turn["status"], turn["error"]["message"]) == ("failed", "boom")
    assert fake.threads()[thread]["turns"][0]["status"] == "failed"


def test_an_announced_retry_ends_nothing_fx_17(fake: Harness) -> None:
    steps = [
        {"kind": "error_note", "message": "Reconnecting... 1/2", "will_retry": True},
        {"kind": "message", "text": "made it"},
    ]
    script(fake, steps)
    with Client(fake).initialize() as client:
        turn = client.play(client.thread())
    errors = [one["params"] for one in client.seen if one.get("method") == "error"]
    assert [error["willRetry"] for error in errors] == [True]
    assert turn["status"] == "completed"


@pytest.mark.parametrize("end", ["crash", "fail"])
def test_a_partial_message_has_deltas_and_no_end_fx_16(fake: Harness, end: str) -> None:
    last = {"kind": "crash", "code": 3} if end == "crash" else {"kind": "fail", "message": "x"}
    script(fake, [{"kind": "message_partial", "text": "Half a"}, last])
    with Client(fake).initialize() as client:
        client.turn(client.thread())
        assert client.notified("item/agentMessage/delta")["delta"] == "Half a"
        if end == "fail":
            client.notified("turn/completed")
        else:
            client.ended()
    ended = [one["params"]["item"]["type"] for one in fake.notifications("item/completed")]
    assert ended == ["userMessage"]


def test_a_crash_leaves_no_turn_and_no_end_but_its_code_and_words_fx_15(fake: Harness) -> None:
    script(
        fake,
        [
            {"kind": "message", "text": "so far"},
            {"kind": "crash", "code": 7, "stderr": "thread panicked"},
        ],
    )
    client = Client(fake).initialize()
    thread = client.thread()
    client.turn(thread)
    client.ended()
    assert client.process.wait(30) == 7
    assert client.process.stderr is not None
    assert client.process.stderr.read() == b"thread panicked\n"
    assert "turn/completed" not in client.methods()
    assert fake.threads()[thread]["turns"] == []
    assert fake.events("crash")[0]["code"] == 7
