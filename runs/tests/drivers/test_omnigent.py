from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.dialect import ModelRequest, ToolCall, Turn
from fakes.script import Child, task
from runs.core.events import Draft, Kind, number
from runs.core.history import History
from runs.drivers.omnigent import DRIVER
from runs.drivers.omnigent.evidence import LiveStream
from runs.errors import HarnessError
from runs.tests.drivers.conftest import MakeContext

ROOT, CHILD = "root0000", "child000"


def written(context: Any) -> dict[str, Any]:
    """The files of a launch that are JSON, by their path below ours."""
    base = context.home / "lifeline"
    files = DRIVER.launch(context).files
    return {
        str(path.relative_to(base)): json.loads(text)
        for path, text in files.items()
        if path.is_relative_to(base) and path.suffix in (".json", ".yaml")
    }


def fed(*records: dict[str, Any]) -> list[Draft]:
    reader = LiveStream("stdout.jsonl")
    found: list[Draft] = []
    for place, record in enumerate(records, 1):
        line = {"t": 1_796_000_000.0 + place, **record}
        found += reader.feed(json.dumps(line).encode() + b"\n", place, 0)
    return [*found, *reader.end()]


def event(kind: str, session: str = ROOT, **more: Any) -> dict[str, Any]:
    data = {"type": kind, "conversation_id": session, **more}
    return {"kind": "sse", "session": session, "data": data}


# Starting it


def test_it_declares_one_kind_of_sub_agent_for_each_depth(make_context: MakeContext) -> None:
    files = written(make_context(DRIVER, depth=2))
    assert files["agent/config.yaml"]["tools"] == {"agents": ["worker"]}
    assert files["agent/agents/worker/config.yaml"]["tools"] == {"agents": ["worker2"]}
    deepest = files["agent/agents/worker/agents/worker2/config.yaml"]
    assert "tools" not in deepest
    assert deepest["executor"]["auth"] == {
        "type": "api_key", "api_key": "dummy", "base_url": "http://127.0.0.1:4321/v1",
    }  # fmt: skip


def test_it_starts_server_and_runner_on_loopback_without_accounts(
    make_context: MakeContext,
) -> None:
    context = make_context(DRIVER)
    plan, launch = written(context)["plan.json"], DRIVER.launch(context)
    assert plan["server"][1:6] == ["server", "--host", "127.0.0.1", "--port", "{port}"]
    assert plan["runner"][1:] == ["-P", "-m", "omnigent.runner._entry"]
    assert plan["message"] == "LIFELINE-ROOT Delegate."
    for name in ("TELEMETRY", "KEYRING", "CATALOG_LOOKUP"):
        assert launch.env[f"OMNIGENT_DISABLE_{name}"] == "1"
    assert launch.env["OMNIGENT_AUTH_ENABLED"] == "0"


def test_it_starts_the_runner_alone_when_it_is_told_to(make_context: MakeContext) -> None:
    context = make_context(DRIVER, form="runner")
    plan = written(context)["plan.json"]
    assert plan["alone"] is True
    assert plan["runner"][2:] == [
        str(context.home / "lifeline" / "alone.py"), "{port}",
        str(context.home / "lifeline" / "agent"),
    ]  # fmt: skip
    assert written(make_context(DRIVER))["plan.json"]["alone"] is False


@pytest.mark.parametrize("deed", ["restart", "kill", "speak", "interrupt"])
def test_it_does_to_a_run_what_an_option_says(make_context: MakeContext, deed: str) -> None:
    plan = written(make_context(DRIVER, **{deed: "child-running"}))["plan.json"]
    assert (plan["deed"], plan["when"]) == (deed, "child-running")
    plan = written(make_context(DRIVER))["plan.json"]
    assert (plan["deed"], plan["when"]) == ("", "")


def test_it_says_when_its_command_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "venv" / "bin" / "omnigent"
    with pytest.raises(HarnessError, match="no command"):
        DRIVER.executable(tmp_path)
    path.parent.mkdir(parents=True)
    path.touch()
    assert DRIVER.executable(tmp_path) == path


# Its tools


def test_it_sends_reads_and_cancels_by_the_names_that_it_gave() -> None:
    table = DRIVER.tools({}, "0.19.1")
    sent = table.delegate(task("1.2", model="other"))
    assert sent.name == "sys_session_send"
    assert (sent.arguments["agent"], sent.arguments["title"]) == ("worker2", "lifeline-1-2")
    assert sent.arguments["args"]["model"] == "other"
    again = table.message(Child("1.2"), "more")
    assert again is not None and again.arguments["title"] == sent.arguments["title"]
    assert table.cancel(Child("1")) is None
    cancelled = table.cancel(Child("1", CHILD))
    assert cancelled is not None and cancelled.arguments == {"task_id": CHILD}
    assert table.wait(Child("1")) is None
    read = table.wait(Child("1", announced=True))
    assert read is not None and read.name == "sys_read_inbox"


@pytest.mark.parametrize("written_as", [json.dumps, repr])
def test_it_reads_the_session_of_a_child_out_of_the_send(written_as: Any) -> None:
    table = DRIVER.tools({}, "0.19.1")
    call = table.delegate(task("2"))
    asked = ToolCall(call.name, call.arguments, id="c1")
    output = written_as({"task_id": CHILD, "conversation_id": CHILD, "status": "launching"})
    turns = (Turn("assistant", "", (asked,)), Turn("tool", output, call_id="c1"))
    request = ModelRequest("chat_completions", "m", True, turns, (call.name,), "/", {}, {})
    assert table.children(request) == {"2": CHILD}


# What it reads


def test_it_tells_the_lives_of_the_parts_and_takes_a_runner_that_is_back_for_a_resume() -> None:
    words = ("started", "online", "killed", "started", "online")
    drafts = fed(
        {"kind": "client/part", "part": "server", "status": "online", "version": "9.9.9"},
        event("session.status", status="running"),
        *({"kind": "client/part", "part": "runner", "status": word, "pid": 7} for word in words),
    )
    kinds = [one.kind for one in drafts]
    assert kinds.count(Kind.PART) == 6
    assert kinds[-1] is Kind.SESSION_RESUMED
    assert kinds.count(Kind.SESSION_RESUMED) == 1
    (begun,) = [one for one in drafts if one.kind is Kind.SESSION_STARTED]
    assert begun.data["version"] == "9.9.9"


def test_it_calls_a_message_queued_that_comes_into_an_open_turn() -> None:
    said = {"data": {"role": "user", "content": [{"type": "input_text", "text": "more"}]}}
    drafts = fed(
        event("session.input.consumed", data=said),
        event("response.in_progress", response={"id": "r1"}),
        event("session.input.consumed", data=said),
    )
    messages = [one.data["queued"] for one in drafts if one.kind is Kind.USER_MESSAGE]
    assert messages == [False, True]


def test_it_sees_how_a_runner_alone_takes_a_message() -> None:
    taken = [{"kind": "client/answered", "status": 202, "body": {"status": word}}
             for word in ("accepted", "buffered")]  # fmt: skip
    drafts = fed(event("session.status", status="running"), *taken)
    messages = [one.data["queued"] for one in drafts if one.kind is Kind.USER_MESSAGE]
    assert messages == [False, True]


def woken(output: str) -> list[Draft]:
    """A parent that is woken for a child, reads its inbox, and gets `output`."""
    wake = "[System: sub-agent worker/a finished (completed) — 1 result waiting in inbox.]"
    row = {"id": CHILD, "title": "worker:a", "current_task_status": "completed"}
    call = {"type": "function_call", "name": "sys_read_inbox", "call_id": "c1", "arguments": "{}"}
    result = {"type": "function_call_output", "call_id": "c1", "output": output}
    drafts = fed(
        event("session.child_session.updated", child_session_id=CHILD, child=row),
        event("session.input.consumed", data={"data": {"content": [{"text": wake}]}}),
        event("response.output_item.done", item={**call, "status": "completed"}),
        event("response.output_item.done", item={**result, "status": "completed"}),
    )
    return [one for one in drafts if one.kind is Kind.NOTICE_DELIVERED]


@pytest.mark.parametrize(
    ("output", "has_result"),
    [
        (f"[System: sub-agent task {CHILD} completed — worker:a returned: CHILD-OK 1.]", True),
        (f"[System: sub-agent task {CHILD} completed — worker:a produced no output]", False),
        ("Inbox is empty — no completed tasks.", False),
    ],
)
def test_it_sees_whether_a_woken_parent_got_what_it_was_woken_for(
    output: str, has_result: bool
) -> None:
    wake, poll = woken(output)
    assert (wake.data["form"], wake.data["child"], wake.data["status"]) == (
        "wake", CHILD, "completed",
    )  # fmt: skip
    assert (poll.data["form"], poll.data["child"], poll.data["has_result"]) == (
        "poll", CHILD, has_result,
    )  # fmt: skip


def test_it_does_not_know_what_other_words_of_an_inbox_are() -> None:
    assert [one.data["form"] for one in woken("Anything else.")] == ["wake"]


def rows(*words: str) -> list[tuple[Kind, Any]]:
    """What a child's rows on its parent's stream come to."""
    drafts = fed(
        *(
            event(
                "session.child_session.updated",
                child_session_id=CHILD,
                child={"id": CHILD, "current_task_status": word},
            )
            for word in words
        )
    )
    kinds = (Kind.AGENT_STARTED, Kind.AGENT_RESUMED, Kind.AGENT_ENDED)
    return [(one.kind, one.data.get("status")) for one in drafts if one.kind in kinds]


def test_it_ends_a_child_once_whose_launch_fails_before_its_turn() -> None:
    started, ended = (Kind.AGENT_STARTED, None), (Kind.AGENT_ENDED, "failed")
    assert rows("launching", "failed", "in_progress", "failed", "failed") == [started, ended]
    assert rows("launching", "failed") == [started, ended]


@pytest.mark.parametrize(
    ("word", "ends"), [("idle", ["completed"]), ("failed", ["failed"]), ("running", [])]
)
def test_it_takes_a_childs_own_rest_for_its_end_where_its_parents_stream_shows_none(
    word: str, ends: list[str]
) -> None:
    row = {"id": CHILD, "current_task_status": "in_progress"}
    drafts = fed(
        event("session.child_session.updated", child_session_id=CHILD, child=row),
        event("session.status", CHILD, status=word),
        event("session.status", status="waiting"),
    )
    found = [one for one in drafts if one.kind is Kind.AGENT_ENDED]
    assert [(one.agent, one.data["status"]) for one in found] == [(CHILD, end) for end in ends]


def test_it_takes_work_after_an_end_for_a_run_of_its_own() -> None:
    words = ("launching", "in_progress", "completed", "launching", "in_progress", "failed")
    assert rows(*words) == [
        (Kind.AGENT_STARTED, None), (Kind.AGENT_ENDED, "completed"), (Kind.AGENT_RESUMED, None),
        (Kind.AGENT_ENDED, "failed"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("setup", "begins", "slow"),
    [("whole", False, True), ("whole", True, False), ("child-broken", False, False)],
)
def test_it_takes_a_harness_that_does_not_come_up_for_the_hosts_trouble(
    setup: str, begins: bool, slow: bool
) -> None:
    turn = [event("response.in_progress", response={"id": "r1"})] if begins else []
    drafts = fed(
        {"kind": "client/plan", "setup": setup, "deed": "", "when": ""},
        {"kind": "client/part", "part": "server", "status": "online", "version": "9.9.9"},
        event("session.status", status="running"),
        *turn,
        event("session.status", status="failed", error={"code": "runner_error", "message": "…"}),
    )
    history = History([number(one, place, place) for place, one in enumerate(drafts, 1)])
    found = DRIVER.runtime(history, None)  # type: ignore[arg-type]
    assert bool(found.problem) is slow
    assert found.version == ("" if slow else "9.9.9")


def test_it_takes_the_runtimes_own_words_for_nobodys_message() -> None:
    said = {"data": {"content": [{"type": "input_text", "text": "[System: interrupted]\nGo on."}]}}
    drafts = fed(event("session.interrupted", CHILD), event("session.input.consumed", data=said))
    (abort,) = [one for one in drafts if one.kind is Kind.ABORTED]
    assert abort.data == {"reason": "interrupted", "target": CHILD}  # nobody says who asked
    assert not [one for one in drafts if one.kind is Kind.USER_MESSAGE]


def test_it_takes_a_cancel_for_asked_when_it_is_called() -> None:
    call = {"type": "function_call", "name": "sys_cancel_task", "call_id": "c1"}
    call["arguments"] = json.dumps({"task_id": CHILD})
    answer = {"type": "function_call_output", "call_id": "c1", "status": "completed"}
    answer["output"] = json.dumps({"cancel_requested": True, "cancel_confirmed": False})
    drafts = fed(
        event("response.output_item.done", item={**call, "status": "in_progress"}),
        event("response.output_item.done", item=answer),
    )
    kinds = [one.kind for one in drafts]
    assert kinds.index(Kind.CANCEL_REQUESTED) < kinds.index(Kind.TOOL_ENDED)
    (asked,) = [one for one in drafts if one.kind is Kind.CANCEL_REQUESTED]
    assert (asked.data["target"], asked.data["by"]) == (CHILD, "parent")
    assert drafts[-1].data["summary"] == "not confirmed"
