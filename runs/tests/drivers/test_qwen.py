from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.dialect import ModelRequest, ToolCall, Turn
from fakes.script import Child, task
from runs.core.events import Draft, Kind
from runs.drivers.qwen import DRIVER
from runs.errors import CannotRunHere
from runs.tests.drivers.conftest import MakeContext
from runs.transcript import named, read_case
from runs.transcripts._qwen import notifications
from runs.transcripts._report import report

DATA = Path(__file__).parent / "data" / "qwen"


# Starting it


def test_it_asks_once_and_wants_lines(make_context: MakeContext) -> None:
    context = make_context(DRIVER)
    launch = DRIVER.launch(context)
    assert launch.argv[:3] == (str(context.binary.path), "-p", "LIFELINE-ROOT Delegate.")
    assert "stream-json" in launch.argv
    assert launch.env["OPENAI_BASE_URL"] == "http://127.0.0.1:4321/v1"
    assert launch.env["OPENAI_API_KEY"] == "dummy"
    assert launch.env["QWEN_STREAM_IDLE_TIMEOUT_MS"] == "5000"


def test_a_negative_option_leaves_it_its_own_value(make_context: MakeContext) -> None:
    def settings(**given: Any) -> Any:
        context = make_context(DRIVER, **given)
        return json.loads(DRIVER.launch(context).files[context.home / ".qwen" / "settings.json"])

    assert settings()["model"] == {"generationConfig": {}}
    assert settings(retries=0)["model"] == {"generationConfig": {"maxRetries": 0}}
    launch = DRIVER.launch(make_context(DRIVER, stream_idle=-1))
    assert not any("IDLE" in name for name in launch.env)


def test_it_says_nothing_of_how_it_is_used(make_context: MakeContext) -> None:
    context = make_context(DRIVER)
    (text,) = DRIVER.launch(context).files.values()
    found = json.loads(text)
    assert found["telemetry"] == {"enabled": False}
    assert found["privacy"] == {"usageStatisticsEnabled": False}


def test_it_runs_on_the_node_of_its_installation(make_context: MakeContext) -> None:
    context = make_context(DRIVER)
    assert DRIVER.launch(context).argv[0] == str(context.binary.path)
    own = context.binary.folder / "node_modules" / ".bin" / "node"
    own.parent.mkdir(parents=True)
    own.touch()
    assert DRIVER.launch(context).argv[:2] == (str(own), str(context.binary.path))


def test_it_says_that_a_version_has_no_command(tmp_path: Path) -> None:
    with pytest.raises(CannotRunHere):
        DRIVER.executable(tmp_path)


# Its tools


def test_it_delegates_as_the_script_wants() -> None:
    tools = DRIVER.tools(DRIVER.read_options({}), "0.24.4")
    for background in (True, False):
        call = tools.delegate(task("1", background=background))
        assert call.name == "agent"
        assert call.arguments["prompt"] == task("1").prompt
        assert call.arguments["run_in_background"] is background
    assert tools.delegate(task("1.1")).arguments["run_in_background"] is False
    assert tools.wait(Child("1")) is tools.cancel(Child("1")) is None


def test_it_calls_a_hidden_tool_through_the_one_that_is_shown() -> None:
    tools = DRIVER.tools(DRIVER.read_options({}), "0.24.4")
    for call, name in (
        (tools.cancel(Child("1", "a")), "task_stop"),
        (tools.message(Child("1", "a"), "more"), "send_message"),
    ):
        assert call is not None
        assert (call.name, call.arguments["name"]) == ("tool_call", name)
        assert call.arguments["arguments"]["task_id"] == "a"


def test_it_reads_the_id_of_a_child_from_the_answer_of_its_call() -> None:
    tools = DRIVER.tools(DRIVER.read_options({}), "0.24.4")
    call = ToolCall("agent", {"prompt": task("1").prompt}, id="call_1")
    answer = "Background agent launched successfully.\ntask_id: general-purpose-call_1 (internal)"
    turns = (Turn("assistant", "", tool_calls=(call,)), Turn("tool", answer, call_id="call_1"))
    request = ModelRequest("chat_completions", "m", True, turns, (), "/v1", {}, {})
    assert tools.children(request) == {"1": "general-purpose-call_1"}


# What it writes


def judged(name: str) -> dict[str, Any]:
    return report(read_case([DATA / name]))


@pytest.mark.parametrize(
    ("name", "diagnosis", "laws"),
    [
        ("0.24.4-success", "healthy", set()),
        ("0.24.4-sse-cut", "failed_and_reported", set()),
        # 28 tries, and then it gave up and said so.
        ("0.24.4-http-500", "failed_and_reported", {"L6"}),
        # Its stream answers the call of a failed one with `is_error: false`.
        ("0.24.4-sync-http-400", "provider_error_false_completion", {"L2", "L13"}),
    ],
)
def test_a_recording_is_judged_as_the_run_was(name: str, diagnosis: str, laws: set[str]) -> None:
    made = judged(name)
    assert made["diagnosis"] == diagnosis
    assert {one["law"] for one in made["findings"] if one["verdict"] == "broken"} == laws


def test_a_child_in_the_background_ends_in_two_views_and_is_told_once() -> None:
    case = read_case([DATA / "0.24.4-sse-cut"])
    (child,) = case.history.children
    (run,) = child.runs
    assert run.terminal("stdout") == run.terminal("session") == "failed"
    assert [(note.get("form"), note.get("raw")) for note in run.notices] == [
        ("notification", "failed")
    ]
    assert child.parent == "root"


def test_a_child_in_the_foreground_is_told_by_its_call() -> None:
    case = read_case([DATA / "0.24.4-sync-http-400"])
    (run,) = case.history.runs
    assert [note.get("form") for note in run.notices] == ["tool_result"]
    assert (run.terminal("stdout"), run.terminal("session")) == ("completed", "failed")
    assert case.facts["version"] == "0.24.4"


def test_a_grandchild_lies_below_the_child_that_started_it() -> None:
    history = read_case([DATA / "0.24.4-grandchild-cut"]).history
    below = {agent.id: agent for agent in history.children}
    grandchild = below["general-purpose-call_r3_0"]
    assert grandchild.parent == "general-purpose-call_r1_0"
    assert below[grandchild.parent].parent == "root"
    # Its parent's own file has the answer of the call, and not in which form it was meant.
    assert [note.get("status") for note in grandchild.runs[0].notices] == ["unknown"]


def _read(name: str, *records: dict[str, Any]) -> list[Draft]:
    reader = named(name).reader("a-file")
    lines = [json.dumps(one).encode() + b"\n" for one in records]
    found = [d for number, line in enumerate(lines, 1) for d in reader.feed(line, number, 0)]
    return [*found, *reader.end()]


def test_a_description_without_an_end_says_none() -> None:
    about = {"agentId": "a-1", "toolUseId": "1", "status": "running", "parentAgentId": None}
    kinds = [draft.kind for draft in _read("qwen-agent-meta", about)]
    assert Kind.AGENT_STARTED in kinds
    assert Kind.AGENT_ENDED not in kinds


NOTICE = "<task-notification>\n<task-id>{}</task-id>\n<status>{}</status>\n<result>x</result>\n"


def test_a_notification_is_read_by_its_tags_alone() -> None:
    (found,) = notifications(NOTICE.format("a", "failed"))
    assert (found["child"], found["status"], found["error_passed"]) == ("a", "failed", True)
    assert notifications("a word about <task-notification>") == []
    assert notifications("<task-notification><status>failed</status>") == []


def test_ends_that_come_together_are_told_in_one_text() -> None:
    said = NOTICE.format("a", "completed") + "\n" + NOTICE.format("b", "failed")
    message = {"role": "user", "parts": [{"text": said}]}
    told = _read("qwen-chat-jsonl", {"uuid": "1", "type": "user", "message": message})[1:]
    assert [(one.kind, one.data["child"], one.data["status"]) for one in told] == [
        (Kind.NOTICE_DELIVERED, "a", "completed"),
        (Kind.NOTICE_DELIVERED, "b", "failed"),
    ]


def test_a_call_that_delegates_says_which_task_it_is() -> None:
    given = {"description": "d", "prompt": task("1.2").prompt}
    call = {"functionCall": {"id": "c", "name": "agent", "args": given}}
    kept = {"uuid": "1", "type": "assistant", "message": {"parts": [call]}}
    use = {"type": "tool_use", "id": "c", "name": "agent", "input": given}
    said = {"uuid": "2", "type": "assistant", "message": {"content": [use]}}
    for name, record in (("qwen-chat-jsonl", kept), ("qwen-stream-json", said)):
        asked = [one for one in _read(name, record) if one.kind is Kind.SPAWN_REQUESTED]
        assert [one.data["task"] for one in asked] == ["1.2"]


def test_a_hidden_tool_is_read_as_itself() -> None:
    tools = DRIVER.tools(DRIVER.read_options({}), "0.24.4")
    stop, more = tools.cancel(Child("1", "a")), tools.message(Child("2", "b"), "more")
    assert stop is not None and more is not None
    parts = [
        {"functionCall": {"id": each.name, "name": each.name, "args": dict(each.arguments)}}
        for each in (stop, more)
    ]
    told = {"role": "user", "parts": [{"text": NOTICE.format("b", "completed")}]}
    kept = [
        {"uuid": "1", "type": "assistant", "message": {"parts": parts}},
        {"uuid": "2", "type": "user", "message": told},
        {"uuid": "3", "type": "assistant", "message": {"parts": parts[1:]}},
    ]
    use = {"type": "tool_use", "id": "c", "name": stop.name, "input": dict(stop.arguments)}
    said = {"uuid": "4", "type": "assistant", "message": {"content": [use]}}
    found = [*_read("qwen-chat-jsonl", *kept), *_read("qwen-stream-json", said)]
    stops = [one.data["target"] for one in found if one.kind is Kind.CANCEL_REQUESTED]
    assert stops == ["a", "a"]
    # Only one that has ended has another run.
    assert [(one.agent, one.data["by"]) for one in found if one.kind is Kind.AGENT_RESUMED] == [
        ("b", "root")
    ]
