"""Codex's driver without the binary: configuration, tools, callers."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest

from fakes.dialect import ModelRequest, ToolCall, Turn
from fakes.dialects.responses import DIALECT
from fakes.script import Child, task
from fakes.targeting import Identity
from runs.core.events import Kind
from runs.drivers.codex import DRIVER
from runs.drivers.codex.callers import Threads
from runs.drivers.codex.describe import of_table
from runs.tests.drivers.conftest import MakeContext

ROOT, CHILD, BELOW = "01a2-root-thread", "01a2-child-thread", "01a2-below-thread"


def _config(make_context: MakeContext, version: str = "0.171.0", **options: Any) -> dict[str, Any]:
    launch = DRIVER.launch(make_context(DRIVER, version, **options))
    (text,) = launch.files.values()
    return tomllib.loads(text)


# The start


def test_it_has_no_key_and_knows_no_provider_but_ours(make_context: MakeContext) -> None:
    found = _config(make_context)
    (provider,) = found["model_providers"].values()
    assert provider["base_url"] == "http://127.0.0.1:4321/v1"
    assert provider["requires_openai_auth"] is False
    assert "env_key" not in provider
    assert found["features"]["plugins"] is False
    assert found["analytics"]["enabled"] is False and found["check_for_update_on_startup"] is False


def test_it_retries_as_it_is_told_or_as_it_likes(make_context: MakeContext) -> None:
    told = _config(make_context, request_max_retries=1, stream_max_retries=3)
    assert told["model_providers"]["lifeline"]["request_max_retries"] == 1
    assert told["model_providers"]["lifeline"]["stream_max_retries"] == 3
    free = _config(make_context, request_max_retries=-1, stream_idle_timeout_ms=-1)
    assert (
        not {"request_max_retries", "stream_idle_timeout_ms"}
        & free["model_providers"]["lifeline"].keys()
    )


@pytest.mark.parametrize(
    ("version", "limits"),
    [
        ("0.120.0", {"max_threads": 4, "max_depth": 3}),
        ("0.147.0", {"max_concurrent_threads_per_session": 4, "max_depth": 3}),
        ("0.171.0", {"max_concurrent_threads_per_session": 4, "max_depth": 3}),
    ],
)
def test_it_says_the_limits_in_the_words_of_the_version(
    make_context: MakeContext, version: str, limits: dict[str, int]
) -> None:
    assert _config(make_context, version, max_children=4, max_depth=3)["agents"] == limits
    assert "agents" not in _config(make_context, version)


def test_the_limits_that_it_was_given_are_read_with_the_rest(make_context: MakeContext) -> None:
    context = make_context(DRIVER, max_children=4)
    (config,) = [one for one in DRIVER.sources(context) if one.name == "config"]
    (text,) = DRIVER.launch(context).files.values()
    reader = config.reader("config.toml")
    lines = enumerate(text.splitlines(keepends=True), 1)
    drafts = [one for n, line in lines for one in reader.feed(line.encode(), n, 0)]
    found = [one.data for one in [*drafts, *reader.end()] if one.kind is Kind.LIMIT]
    assert {"name": "max_threads", "value": 4} in found and config.late


def test_it_is_talked_to_unless_it_runs_one_prompt(make_context: MakeContext) -> None:
    talks = DRIVER.launch(make_context(DRIVER))
    assert talks.argv[1:] == ("app-server",) and talks.stdin == "pipe"
    runs = DRIVER.launch(make_context(DRIVER, form="exec"))
    assert runs.argv[1] == "exec" and runs.argv[-1] == "LIFELINE-ROOT Delegate."
    assert runs.stdin == "none"


# Tools


@pytest.mark.parametrize(
    ("version", "generation", "space", "cancel"),
    [
        ("0.120.0", "v1", "", "close_agent"),
        ("0.120.0", "v2", "", "close_agent"),
        ("0.147.0", "v1", "multi_agent_v1", "close_agent"),
        ("0.171.0", "v2", "collaboration", "interrupt_agent"),
    ],
)
def test_it_calls_the_tools_that_a_version_has(
    version: str, generation: str, space: str, cancel: str
) -> None:
    table = DRIVER.tools(DRIVER.read_options({"multi_agent": generation}), version)
    spawn = table.delegate(task("1.2"))
    assert (spawn.name, spawn.namespace) == ("spawn_agent", space)
    assert ("task_name" in spawn.arguments) is (generation == "v2")
    child = Child("1.2", "the-id")
    assert ("targets" in table.wait(child).arguments) is (generation == "v1")
    assert table.cancel(child).name == cancel
    assert (table.poll(child) is None) is (generation == "v1")
    work = table.work("note")
    assert work is not None and work.namespace == ""


@pytest.mark.parametrize(
    ("output", "name"),
    [
        ('{"agent_id":"01a2","nickname":"Plato"}', "01a2"),
        ('{"task_name":"/root/lifeline_1"}', "/root/lifeline_1"),
        ("no more agents", ""),
        ("[]", ""),
    ],
)
def test_it_learns_a_childs_id_from_the_answer(output: str, name: str) -> None:
    table = DRIVER.tools(DRIVER.read_options({}), "0.171.0")
    call = ToolCall("spawn_agent", {"message": "LIFELINE-TASK-1 Answer."}, id="c1")
    request = _request({}, Turn("assistant", "", (call,)), Turn("tool", output, call_id="c1"))
    assert table.children(request) == ({"1": name} if name else {})


# Callers


def _request(headers: dict[str, str], *turns: Turn) -> ModelRequest:
    return ModelRequest("responses", "m", True, turns, ("spawn_agent",), "/v1/responses", headers,
                        {})  # fmt: skip


def _spawned(thread: str, parent: str, *turns: Turn, older: bool = False) -> ModelRequest:
    mine = {"session_id": thread} if older else {"thread-id": thread, "session-id": ROOT}
    more = {"x-openai-subagent": "collab_spawn", "x-codex-parent-thread-id": parent}
    return _request(mine | more, *turns)


def _task(path: str, name: str) -> Turn:
    head = f"Message Type: NEW_TASK\nTask name: {name}\nSender: /root\nPayload:\n"
    return Turn("user", f"{head}LIFELINE-TASK-{path} Answer.")


def test_it_tells_a_child_that_inherits_its_parents_conversation_by_the_thread() -> None:
    rule = Threads()
    inherited = Turn("user", "LIFELINE-ROOT Delegate.")
    assert rule(_request({"thread-id": ROOT, "session-id": ROOT}, inherited)) == Identity(0, ROOT)
    found = rule(_spawned(CHILD, ROOT, inherited, _task("1", "/root/a")))
    assert found == Identity(1, CHILD, ROOT, since=1, task="1")


def test_it_knows_how_deep_a_thread_is_and_which_task_is_its_own() -> None:
    rule = Threads()
    rule(_request({"session_id": ROOT}))
    rule(_spawned(CHILD, ROOT, _task("1", "/root/a"), older=True))
    turns = (_task("1", "/root/a"), Turn("assistant", ""), _task("1.1", "/root/a/b"))
    found = rule(_spawned(BELOW, CHILD, *turns, older=True))
    assert found == Identity(2, BELOW, CHILD, since=2, task="1.1")
    again = rule(_spawned(BELOW, CHILD, *turns, _task("1.1", "/root/a/b"), older=True))
    assert again is not None and again.since == 2


def test_it_reads_the_envelope_in_which_0_120_hands_out_a_task() -> None:
    said = {"author": "/root", "recipient": "/root/a", "content": "LIFELINE-TASK-2 Answer."}
    words = json.dumps(said, separators=(",", ":"))
    found = Threads()(_spawned(CHILD, ROOT, Turn("assistant", words), older=True))
    assert found is not None and found.task == "2"


def test_its_own_helpers_are_utility_and_strangers_are_left_to_the_markers() -> None:
    rule = Threads()
    assert rule(_request({"thread-id": ROOT, "x-openai-subagent": "compact"})) == Identity(
        -1, "utility"
    )
    assert rule(_request({})) is None
    assert rule(_request({"thread-id": "<script>"})) is None


def test_what_is_encrypted_for_a_hosted_model_is_text_for_ours() -> None:
    item = {
        "type": "agent_message",
        "content": [
            {"type": "input_text", "text": "Payload:"},
            {"type": "encrypted_content", "encrypted_content": "LIFELINE-TASK-1"},
        ],
    }
    request = DIALECT.read("/v1/responses", {}, {"model": "m", "input": [item]})
    assert request.turns[0].text == "Payload:\nLIFELINE-TASK-1"


def test_the_versions_that_ship_a_description_are_those_of_the_table() -> None:
    assert {"0.120.0", "0.147.0", "0.160.0", "0.171.0"} <= set(DRIVER.described())
    found = DRIVER.describe("0.171.0", None)
    assert found is not None and len(found["server-notification"]) == 87
    assert DRIVER.describe("9.9.9", None) is None
    assert DRIVER.describe("0.171.0", Path("/nowhere")) == found


def test_it_describes_a_table_by_words_kinds_and_keys() -> None:
    http = ["struct", {"http": ["struct", {"code": "u16"}, []]}, ["http"]]
    item = ["struct", {"type": ["words", ["item"]], "note": ["option", "string"]}, ["type"]]
    sides: dict[str, Any] = {
        side: {} for side in ("client_requests", "client_notifications", "server_requests")
    }
    table = {
        **sides,
        "server_notifications": {"item/started": {"params": "@ItemParams"}},
        "types": {
            "ItemParams": ["struct", {"item": "@Item", "n": ["list", "i64"]}, ["item"]],
            "Item": item,
            "Status": ["words", ["on", "off"]],
            "Error": ["untagged", [["words", ["other"]], http]],
        },
    }
    found = of_table(table)
    assert found["server-notification"] == {"item/started": {"item": "Item!", "n": "[i64]"}}
    assert found["kinds"] == {
        "Item: item": {"type": "item!", "note": "null|string"},
        "Error: http": {"code": "u16"},
    }
    assert found["words"]["Status"] == {"on": "value", "off": "value"}
    assert found["words"]["Error"] == {"other": "value"}
    assert found["types"] == {"ItemParams": {"item": "Item!", "n": "[i64]"}}
