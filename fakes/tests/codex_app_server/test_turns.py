"""Turns: their shape, their ends, their steps."""

from __future__ import annotations

from fakes.codex_app_server.harness import Harness
from fakes.tests.codex_app_server.client import Client


def script(fake: Harness, *turns: list[dict[str, object]]) -> None:
    fake.set_scenario({"turns": [{"steps": steps} for steps in turns]})


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
    fake.assert_wire_clean()
