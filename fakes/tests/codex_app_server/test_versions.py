"""Everything that the fake says is of the version that it speaks as."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fakes.codex_app_server.harness import install
from fakes.codex_app_server.protocol import versions
from fakes.codex_app_server.serde import check
from fakes.codex_app_server.world import world
from fakes.tests.codex_app_server.client import Client

Steps = list[dict[str, Any]]
EVERYTHING: Steps = [
    {"kind": "reasoning", "summary": "s", "content": "c"},
    {"kind": "command", "command": "true"},
    {"kind": "usage", "input": 1},
    {"kind": "compaction"},
    {
        "kind": "error_note",
        "message": "m",
        "info": {"httpConnectionFailed": {"httpStatusCode": 500}},
    },
    {"kind": "spawn", "child": "a"},
    {"kind": "spawn", "child": "no", "fails": True},
    {"kind": "wait", "children": ["a"], "steps": [{"kind": "child_ends", "child": "a"}]},
    {"kind": "interact", "child": "a"},
    {"kind": "child_ends", "child": "a", "status": "failed", "message": "m", "retries": 1},
    {"kind": "close", "child": "a"},
    {"kind": "command", "command": "true", "approval": True},
    {"kind": "permissions"},
    {"kind": "message", "text": "Done", "phase": "final_answer"},
]


@pytest.mark.parametrize("version", versions())
def test_all_that_it_says_is_of_that_version(version: str, tmp_path: Path) -> None:
    fake = install(tmp_path, version)
    protocol = world(fake.state, version).protocol
    for agents in ("v1", "v2"):
        fake.rewind()
        fake.set_scenario({"agents": agents, "patience": 0.01, "turns": [{"steps": EVERYTHING}]})
        with Client(fake).initialize() as client:
            thread = client.thread()
            assert client.play(thread)["status"] == "completed"
            client.ask("thread/resume", {"threadId": thread})
            client.ask("thread/list", {})
    for entry in fake.entries():
        if entry.get("dir") != "out":
            continue
        message = entry["msg"]
        if "method" in message:
            form, body = protocol.sent(message["method"]), message["params"]
            assert ("emittedAtMs" in message) == (protocol.stamps and "id" not in message)
        else:
            form, body = protocol.result(entry["reply_to"]), message["result"]
        assert check(protocol.types, form, body) == [], message
    fake.cleanup()
