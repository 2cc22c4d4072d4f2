from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from fakes.dialect import ModelRequest, ToolCall, Turn
from fakes.script import Child, task
from runs.core.events import Draft, Kind
from runs.drivers.claude import DRIVER, by_header
from runs.drivers.claude.evidence import HOOKS, LiveSubagent, settings
from runs.errors import CannotRunHere
from runs.tests.drivers.conftest import MakeContext
from runs.transcript import named, read_case
from runs.transcripts._report import report

DATA = Path(__file__).parent / "data" / "claude"


def table(version: str = "2.1.332", **given: Any) -> Any:
    return DRIVER.tools(DRIVER.read_options(given), version)


# Starting it


def test_it_gives_the_prompt_before_the_lists_of_tools(make_context: MakeContext) -> None:
    argv = DRIVER.launch(make_context(DRIVER)).argv
    assert argv[1:3] == ("-p", "LIFELINE-ROOT Delegate.")
    assert argv.index("--allowedTools") > 2
    assert "Bash" in argv[-1].split(",")
    asked = DRIVER.launch(make_context(DRIVER, permissions="ask")).argv
    assert "Bash" not in asked[-1].split(",")


def test_it_reports_updates_and_asks_for_nothing(make_context: MakeContext) -> None:
    context = make_context(DRIVER)
    env = DRIVER.launch(context).env
    assert env["ANTHROPIC_BASE_URL"] == "http://127.0.0.1:4321"
    assert env["ANTHROPIC_API_KEY"] == "dummy"
    for name in (
        *("DISABLE_TELEMETRY", "DISABLE_ERROR_REPORTING", "DISABLE_AUTOUPDATER"),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
    ):
        assert env[name] == "1"
    assert Path(env["CLAUDE_CONFIG_DIR"]).is_relative_to(context.home)


@pytest.mark.parametrize(
    ("given", "name", "value"),
    [
        ({"max_retries": 4}, "CLAUDE_CODE_MAX_RETRIES", "4"),
        ({"max_retries": -1}, "CLAUDE_CODE_MAX_RETRIES", None),
        ({"fallback": False}, "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK", "1"),
        ({}, "CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK", None),
        ({"background": "off"}, "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS", "1"),
        ({"stream_idle_timeout_ms": 900}, "CLAUDE_STREAM_IDLE_TIMEOUT_MS", "900"),
        ({"stream_idle_timeout_ms": 900}, "CLAUDE_BYTE_STREAM_IDLE_TIMEOUT_MS", "900"),
        ({"agent_stall_timeout_ms": 900}, "CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS", "900"),
        ({}, "CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS", None),
        ({}, "CLAUDE_STREAM_IDLE_TIMEOUT_MS", None),
    ],
)
def test_it_says_what_the_options_say(
    make_context: MakeContext, given: dict[str, Any], name: str, value: str | None
) -> None:
    assert DRIVER.launch(make_context(DRIVER, **given)).env.get(name) == value


def test_its_hooks_note_what_they_are_handed(tmp_path: Path) -> None:
    place = tmp_path / "hooks.jsonl"
    hooks = json.loads(settings(place))["hooks"]
    assert set(hooks) == set(HOOKS)
    command = hooks["SubagentStart"][0]["hooks"][0]["command"]
    payloads = [
        {"hook_event_name": "SubagentStart", "agent_id": "a1", "agent_type": 'it\'s "100%" \\n'},
        {"hook_event_name": "StopFailure", "agent_id": "a1", "error": "server_error"},
    ]
    for payload in payloads:
        given = (json.dumps(payload, indent=1) + "\n").encode()
        subprocess.run(["/bin/sh", "-c", command], input=given, check=True, timeout=30)
    reader = named("claude-hook-payloads").reader("hooks.jsonl")
    drafts: list[Draft] = []
    for number, line in enumerate(place.read_bytes().splitlines(keepends=True), 1):
        drafts += reader.feed(line, number, 0)
    assert [one.kind for one in drafts] == [Kind.AGENT_STARTED, Kind.ERROR, Kind.AGENT_ENDED]
    assert drafts[0].data["role"] == payloads[0]["agent_type"]
    assert not drafts[0].data["parent"]  # a hook does not say whose child it is
    assert all(one.at is not None and one.at > 1e9 for one in drafts)


def test_it_writes_no_hooks_when_it_is_told_not_to(make_context: MakeContext) -> None:
    assert not DRIVER.launch(make_context(DRIVER, hooks=False)).files


def test_it_says_that_a_version_has_no_package_for_this_platform(tmp_path: Path) -> None:
    (tmp_path / "node_modules" / "@anthropic-ai" / "claude-code").mkdir(parents=True)
    with pytest.raises(CannotRunHere, match="no package for this platform"):
        DRIVER.executable(tmp_path)


# Who asks, and its tools


def request(agent: str = "", said: str = "LIFELINE-TASK-1 go", turns: Any = ()) -> ModelRequest:
    return ModelRequest(
        dialect="messages",
        model="m",
        stream=True,
        turns=(Turn("user", said), *turns),
        tools=("Agent",),
        path="/v1/messages?beta=true",
        headers={"x-claude-code-agent-id": agent} if agent else {},
        body={},
    )


def test_it_tells_who_asks_by_the_header_and_leaves_older_versions_to_the_markers() -> None:
    assert by_header(request()) is None
    child, below = by_header(request("a1")), by_header(request("a2", "LIFELINE-TASK-1.2 go"))
    assert child is not None and (child.depth, child.key) == (1, "a1")
    assert below is not None and (below.depth, below.key) == (2, "a2")
    fork = by_header(request("a3", "LIFELINE-ROOT go"))
    assert fork is not None and fork.depth == 1
    assert by_header(request("x" * 100)) is None


def test_it_says_how_a_sub_agent_runs_or_leaves_it_to_the_version() -> None:
    assert table().delegate(task("1")).arguments["run_in_background"] is True
    waited = table().delegate(task("1", background=False)).arguments
    assert waited["run_in_background"] is False
    assert "run_in_background" not in table(background="unset").delegate(task("1")).arguments


def test_it_calls_what_a_version_offers() -> None:
    assert table().message(Child("1"), "more") is None
    assert table().message(Child("1", "a1"), "more").arguments["to"] == "a1"
    assert table("2.1.117").message(Child("1", "a1"), "more") is None
    for version in ("2.1.117", "2.1.220"):
        assert table(version).poll(Child("1", "a1")).name == "TaskOutput"
    assert table().poll(Child("1", "a1")).name == "ListAgents"
    assert table().cancel(Child("1", "a1")).arguments == {"task_id": "a1"}


def test_it_asks_for_another_model_in_its_own_words() -> None:
    asked = {name: table().delegate(task("1", model=name)).arguments for name in ("opus", "gpt-9")}
    assert [given["model"] for given in asked.values()] == ["opus", "haiku"]
    assert "model" not in table().delegate(task("1")).arguments


def test_it_reads_the_id_of_a_child_out_of_the_spawn_call() -> None:
    call = table().delegate(task("2"))
    asked = Turn("assistant", "", (ToolCall(call.name, call.arguments, id="c1"),))
    output = "Async agent launched successfully.\nagentId: a71764dd89c44e804 (internal ID)"
    turns = (asked, Turn("tool", output, call_id="c1"), Turn("tool", "agentId: b2", call_id="c9"))
    assert table().children(request(turns=turns)) == {"2": "a71764dd89c44e804"}


# What it reads: shortened outputs of our own runs


def judged(name: str) -> dict[str, Any]:
    return report(read_case([DATA / name]))


def broken(found: dict[str, Any]) -> dict[str, str]:
    return {row["law"]: row["label"] for row in found["findings"] if row["verdict"] == "broken"}


def test_a_spawn_says_which_task_it_is() -> None:
    call = table().delegate(task("1.2"))
    use = {"type": "tool_use", "id": "c", "name": call.name, "input": dict(call.arguments)}
    line = json.dumps({"type": "assistant", "message": {"content": [use]}}).encode()
    drafts = named("claude-stream-json").reader("stdout.jsonl").feed(line, 1, 0)
    asked = [one.data["task"] for one in drafts if one.kind is Kind.SPAWN_REQUESTED]
    assert asked == ["1.2"]


def test_a_tool_that_nobody_can_allow_is_a_question_refused_at_once() -> None:
    line = {
        "type": "system", "subtype": "permission_denied", "tool_name": "Bash",
        "tool_use_id": "toolu_r3_0", "agent_id": "a72", "decision_reason_type": "asyncAgent",
    }  # fmt: skip
    raw = json.dumps(line).encode() + b"\n"
    asked, answered = named("claude-stream-json").reader("stdout.jsonl").feed(raw, 1, 0)
    assert (asked.kind, answered.kind) == (Kind.QUESTION_ASKED, Kind.QUESTION_ANSWERED)
    assert asked.agent == answered.agent == "a72"
    assert asked.data["id"] == answered.data["id"] == asked.data["call"] == "toolu_r3_0"
    assert answered.data["answer"] == "denied"


def test_it_finds_a_healthy_run_healthy() -> None:
    found = judged("2.1.332-success")
    assert found["diagnosis"] == "healthy"
    assert broken(found) == {}
    (child,) = [row for row in found["agents"] if row["parent"]]
    assert child["terminals"] == ["completed"]
    assert child["true_end"] == "completed"
    assert not [row for row in found["formats"] if not row["format"]]


@pytest.mark.parametrize("name", ["2.1.332-http-500", "2.1.332-sse-cut"])
def test_it_finds_that_a_failed_sub_agent_is_reported_as_failed(name: str) -> None:
    found = judged(name)
    assert found["diagnosis"] == "failed_and_reported"
    (child,) = [row for row in found["agents"] if row["parent"]]
    assert child["true_end"] == "failed"
    assert set(child["told"]) == {"failed"}


def test_it_finds_a_version_that_reports_a_failed_sub_agent_as_completed() -> None:
    found = judged("2.1.117-http-500")
    assert found["diagnosis"] == "provider_error_false_completion"
    assert {"L2", "L3", "L13", "L16"} <= set(broken(found))
    (told,) = [
        row for row in found["findings"] if row["law"] == "L3" and row["verdict"] == "broken"
    ]
    assert told["because"] == "L2"
    assert any(ref.startswith("stdout.jsonl:") for ref in told["evidence"])


@pytest.mark.parametrize(
    ("name", "status", "kind"),
    [
        ("2.1.332-success", "completed", None),
        ("2.1.332-http-500", "failed", "server"),
        ("2.1.332-sse-cut", "failed", "stream"),
    ],
)
def test_it_takes_a_sub_agents_last_message_as_its_stored_end(
    name: str, status: str, kind: str | None
) -> None:
    (path,) = (DATA / name).glob("session-agent-*.jsonl")
    reader = LiveSubagent(path.name)
    drafts: list[Draft] = []
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
        drafts += reader.feed(line, number, 0)
    assert not [one for one in drafts if one.kind is Kind.AGENT_ENDED]
    (start,) = [one for one in drafts if one.kind is Kind.AGENT_STARTED]
    assert start.data["parent"] == ""
    (end,) = list(reader.end())
    assert (end.kind, end.data["status"]) == (Kind.AGENT_ENDED, status)
    assert end.data["error_class"] == kind
    assert end.data["text_length"] > 0
