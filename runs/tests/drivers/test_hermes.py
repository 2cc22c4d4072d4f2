from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.dialect import ModelRequest, ToolCall, Turn
from fakes.script import Child, task
from runs.core.events import Kind
from runs.drivers.hermes import DRIVER, gateway
from runs.drivers.hermes.gateway import DELIVERY, QUIET, Feed
from runs.tests.drivers.conftest import MakeContext

DATA = Path(__file__).parent / "data" / "hermes"


# Starting it


def test_it_asks_once_below_a_program_that_follows_its_database(make_context: MakeContext) -> None:
    context = make_context(DRIVER)
    launch = DRIVER.launch(context)
    ours, command = launch.argv[: launch.argv.index("--")], launch.argv[-4:]
    assert str(context.logs / "state.jsonl") in ours
    assert command[1:] == ("--accept-hooks", "-z", "LIFELINE-ROOT Delegate.")
    assert launch.stdin == "none"


def test_its_gateway_is_spoken_to_over_standard_input(make_context: MakeContext) -> None:
    launch = DRIVER.launch(make_context(DRIVER, form="gateway"))
    assert launch.argv[-2:] == ("-m", "tui_gateway.entry")
    assert launch.stdin == "pipe"


def _config(context: Any) -> Any:
    return json.loads(DRIVER.launch(context).files[context.home / ".hermes" / "config.yaml"])


def test_its_configuration_names_provider_hooks_and_tries(make_context: MakeContext) -> None:
    config = _config(make_context(DRIVER, retries=2))
    assert config["model"]["base_url"] == "http://127.0.0.1:4321/v1"
    assert config["model"]["api_key"] == "dummy"
    assert config["agent"] == {"api_max_retries": 2}
    assert {"subagent_start", "subagent_stop", "api_request_error"} <= set(config["hooks"])
    assert config["security"] == {"allow_lazy_installs": False}


def test_a_negative_option_leaves_it_its_own_value(make_context: MakeContext) -> None:
    context = make_context(DRIVER, retries=-1, stale_timeout=-1)
    assert _config(context)["agent"] == {}
    assert not any("TIMEOUT" in name for name in DRIVER.launch(context).env)
    assert DRIVER.launch(make_context(DRIVER)).env["HERMES_STREAM_STALE_TIMEOUT"] == "5"


# Its tools


def test_it_delegates_with_one_tool_and_has_none_for_the_rest() -> None:
    tools = DRIVER.tools(DRIVER.read_options({}), "0.19.0")
    call = tools.delegate(task("1"))
    assert call.name == "delegate_task"
    assert call.arguments["goal"] == task("1").prompt
    assert tools.wait(Child("1")) is tools.poll(Child("1")) is tools.cancel(Child("1")) is None


def test_a_sub_agent_may_delegate_where_the_run_lets_it(make_context: MakeContext) -> None:
    for depth, role in ((1, None), (2, "orchestrator")):
        assert _config(make_context(DRIVER, spawn_depth=depth))["delegation"] == {
            "max_spawn_depth": depth
        }
        tools = DRIVER.tools(DRIVER.read_options({"spawn_depth": depth}), "0.19.0")
        assert tools.delegate(task("1")).arguments.get("role") == role


def test_a_child_in_the_background_is_known_by_its_delegation() -> None:
    tools = DRIVER.tools(DRIVER.read_options({}), "0.19.0")
    call = ToolCall("delegate_task", {"goal": task("1").prompt}, id="c1")
    answer = json.dumps({"status": "dispatched", "delegation_id": "deleg_1"})
    turns = (
        Turn("assistant", "", tool_calls=(call,)),
        Turn("tool", answer, call_id="c1"),
    )
    request = ModelRequest("chat_completions", "m", True, turns, (), "/v1", {}, {})
    assert tools.children(request) == {"1": "deleg_1"}


# Listening to its gateway


def _event(kind: str, **payload: Any) -> dict[str, Any]:
    return {"method": "event", "params": {"type": kind, "payload": payload}}


def test_silence_ends_it_only_when_nothing_is_open() -> None:
    feed = Feed()
    assert feed.patience is None
    feed.hear(_event("message.start"))
    feed.hear(_event("tool.complete", result={"status": "dispatched"}))
    feed.hear(_event("subagent.start", subagent_id="s"))
    feed.hear(_event("message.complete"))
    assert feed.patience is None
    feed.hear(_event("subagent.complete", subagent_id="s"))
    assert feed.patience == DELIVERY
    feed.hear(_event("message.start"))
    feed.hear(_event("message.complete"))
    assert feed.patience == QUIET


def test_each_late_result_is_waited_for_although_its_turn_begins_twice() -> None:
    feed = Feed()
    feed.hear(_event("message.start"))
    for _ in range(2):
        feed.hear(_event("tool.complete", result={"status": "dispatched"}))
    feed.hear(_event("message.complete"))
    for left in (DELIVERY, QUIET):
        feed.hear(_event("message.start"))
        feed.hear(_event("message.start"))
        feed.hear(_event("message.complete"))
        assert feed.patience == left


def test_it_hears_nonsense_without_harm() -> None:
    feed = Feed()
    for message in ({}, {"params": 3}, {"params": {"type": []}}, _event("subagent.complete")):
        feed.hear(message)
    assert feed.patience is None


class _Pipes:
    """A gateway that says these messages and then nothing more."""

    def __init__(self, *messages: dict[str, Any]) -> None:
        self._lines = [json.dumps(one).encode() for one in messages]
        self.sent: list[dict[str, Any]] = []

    async def send(self, line: bytes) -> None:
        self.sent.append(json.loads(line))

    async def line(self) -> bytes:
        return self._lines.pop(0) if self._lines else b""

    def stop(self) -> None:
        raise AssertionError("nobody asks for it")


@pytest.mark.parametrize(("whom", "stops"), [("child", ["s1"]), ("none", [])])
async def test_it_stops_the_first_sub_agent_once_when_it_is_to(
    make_context: MakeContext, monkeypatch: pytest.MonkeyPatch, whom: str, stops: list[str]
) -> None:
    monkeypatch.setattr(gateway, "WORKING", 0)
    context = make_context(DRIVER, form="gateway", interrupt=whom)
    begins = [
        _event("subagent.start", subagent_id=f"s{n}", child_session_id=f"session-{n}")
        for n in (1, 2)
    ]
    pipes, emitted = _Pipes({"id": "1", "result": {"session_id": "g"}}, *begins), []
    await gateway.converse(context, pipes, lambda draft, raw=b"": emitted.append((draft, raw)))
    asked = [one for one in pipes.sent if one["method"] == "subagent.interrupt"]
    assert [one["params"]["subagent_id"] for one in asked] == stops
    assert [(draft.kind, draft.agent) for draft, _ in emitted] == [
        (Kind.CANCEL_REQUESTED, f"session-{name[1:]}") for name in stops
    ]
    assert all(b"subagent.interrupt" in raw for _, raw in emitted)


# What it writes
