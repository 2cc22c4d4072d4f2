"""Cline's teams: teammates that are made by one call and given tasks by others."""

from __future__ import annotations

import json
from typing import Any

import pytest

from fakes.dialect import ModelRequest, Turn
from fakes.script import Child, Stage, make_script, root_prompt, task
from fakes.targeting import Identity
from runs.core.events import Draft, Kind
from runs.core.judge import judge
from runs.core.rows import agent_rows
from runs.drivers.cline import DRIVER
from runs.drivers.cline.evidence import LiveMessages, LiveStdout
from runs.drivers.cline.tools import TeamTools
from runs.tests.drivers.test_cline import CHILD, RECORDED, ROOT, event, hook, spawn, spawned
from runs.transcript import named, read_case

# What its model calls


def asked(*turns: Turn, script: str = "delegate-one") -> ModelRequest:
    """A request of the root with this conversation so far."""
    prompt = Turn("user", root_prompt(make_script(script)))
    return ModelRequest("chat_completions", "m", True, (prompt, *turns), (), "/", {}, {})


def given(run: str) -> tuple[Turn, Turn]:
    """Child 1 has been given a task, as this run."""
    call = TeamTools().delegate(task("1"))
    told = json.dumps({"agentId": "lifeline-1", "mode": "async", "runId": run})
    return Turn("assistant", "", (call,)), Turn("tool", told, call_id=call.id)


def test_a_teammate_is_made_before_it_is_given_its_task() -> None:
    tools = DRIVER.tools(DRIVER.read_options({"delegation": "team"}), "3.0.65")
    said = make_script("delegate-many").reply("parent", asked(), Stage(Identity(0, "root"), tools))
    names = [(call.name, call.arguments["agentId"]) for call in said.tool_calls[:4]]
    assert names == [
        ("team_spawn_teammate", "lifeline-1"),
        ("team_run_task", "lifeline-1"),
        ("team_spawn_teammate", "lifeline-2"),
        ("team_run_task", "lifeline-2"),
    ]
    alone = make_script("delegate-many").reply(
        "parent", asked(), Stage(Identity(0, "root"), DRIVER.tools(DRIVER.read_options({}), ""))
    )
    assert {call.name for call in alone.tool_calls} == {"spawn_agent"}


def test_a_task_runs_in_the_background_where_the_script_wants_that() -> None:
    modes = [TeamTools().delegate(task("1", background=wish)).arguments for wish in (True, False)]
    assert [mode["runMode"] for mode in modes] == ["async", "sync"]


def test_the_last_run_of_a_teammate_is_waited_for_and_stopped() -> None:
    tools = TeamTools()
    again = tools.message(Child("1"), "once more")
    assert again is not None and again.arguments["continueConversation"] is True
    later = (
        Turn("assistant", "", (again,)),
        Turn("tool", '{"runId":"run_00002"}', call_id=again.id),
    )
    assert tools.children(asked(*given("run_00001"))) == {"1": "run_00001"}
    assert tools.children(asked(*given("run_00001"), *later)) == {"1": "run_00002"}
    waits, stops = tools.wait(Child("1", "run_00002")), tools.cancel(Child("1", "run_00002"))
    assert waits is not None and waits.arguments == {"runId": "run_00002"}
    assert stops is not None and stops.arguments["runId"] == "run_00002"
    assert tools.cancel(Child("1")) is None


@pytest.mark.parametrize(("name", "form"), [("cancel-child", "spawn_agent"), ("nested", "team")])
def test_each_form_has_scenarios_without_a_meaning(name: str, form: str) -> None:
    forms = ("spawn_agent", "team")
    assert [one for one in forms if name in DRIVER.no_meaning({"delegation": one})] == [form]


# What it reads


def team(kind: str, **more: Any) -> dict[str, Any]:
    return {"type": "team_event", "event": {"type": kind, **more}}


def called(call: str, tool: str, **arguments: Any) -> dict[str, Any]:
    kept = {"toolName": tool, "toolCallId": call, "input": arguments}
    return event("content_start", contentType="tool", **kept)


def returned(call: str, tool: str, output: Any) -> dict[str, Any]:
    kept = {"toolName": tool, "toolCallId": call, "output": output}
    return event("content_end", contentType="tool", **kept)


RUN = {"id": "run_1", "agentId": "mate"}
BEGUN = (
    hook("agent_start", ROOT),
    called("c1", "team_run_task", agentId="mate", task="LIFELINE-TASK-1", runMode="async"),
    team("teammate_spawned", agentId="mate", teammate={"runtimeAgentId": CHILD}),
    team("run_started", run=RUN),
    team("task_start", agentId="mate"),
    hook("agent_start", CHILD),
)


def fed(*records: dict[str, Any]) -> list[Draft]:
    reader = named("cline-json").reader("stdout.jsonl")
    found: list[Draft] = []
    for place, record in enumerate(records, 1):
        timed = {**record, "ts": f"2026-11-30T05:00:{place:02}.000Z"}
        found += reader.feed(json.dumps(timed).encode() + b"\n", place, 0)
    return [*found, *reader.end()]


def of(kind: Kind, drafts: list[Draft]) -> list[Draft]:
    return [one for one in drafts if one.kind is kind]


def test_a_teammate_has_one_name_in_all_records() -> None:
    drafts = fed(
        *BEGUN,
        team("agent_event", agentId="mate", event={"type": "content_start", "text": "one"}),
        event("content_start", contentType="text", text="two"),
        hook("agent_end", CHILD),
        team("task_end", agentId="mate", status="completed", result={"text": "one"}),
    )
    (start,), (end,) = of(Kind.AGENT_STARTED, drafts), of(Kind.AGENT_ENDED, drafts)
    assert (start.agent, start.data["background"], start.data["run"]) == ("mate", True, "run_1")
    assert (end.agent, end.data["status"], end.native) == ("mate", "completed", "team/task_end")
    assert [one.agent for one in of(Kind.DELTA, drafts)] == ["mate", "root"]
    assert [one.native for one in drafts if one.agent not in ("root", "mate")] == []


@pytest.mark.parametrize(
    ("said", "status"),
    [
        ({"status": "failed", "result": {"finishReason": "error"}}, "failed"),
        ({"result": {"finishReason": "error"}}, "failed"),
        ({"result": {"finishReason": "completed"}}, "completed"),
        ({"result": {"finishReason": "max_iterations"}}, "failed"),
        ({"error": {"message": "no"}}, "failed"),
    ],
)
def test_older_versions_say_how_a_task_ended_in_its_result(
    said: dict[str, Any], status: str
) -> None:
    (end,) = of(Kind.AGENT_ENDED, fed(*BEGUN, team("task_end", agentId="mate", **said)))
    assert end.data["status"] == status


def test_a_second_task_is_a_second_run_and_no_second_spawn() -> None:
    drafts = fed(
        *BEGUN,
        team("task_end", agentId="mate", status="completed"),
        called("c2", "team_run_task", agentId="mate", task="again", runMode="async"),
        team("run_started", run={**RUN, "id": "run_2"}),
        team("task_start", agentId="mate"),
    )
    assert len(of(Kind.SPAWN_REQUESTED, drafts)) == len(of(Kind.AGENT_STARTED, drafts)) == 1
    (again,) = of(Kind.AGENT_RESUMED, drafts)
    assert (again.agent, again.data["run"]) == ("mate", "run_2")


def test_a_stopped_run_has_ended_when_its_task_says_so() -> None:
    stopped = team("run_cancelled", run={**RUN, "status": "cancelled"})
    on = fed(*BEGUN, stopped, team("task_end", agentId="mate", status="completed"))
    assert [one.data["status"] for one in of(Kind.AGENT_ENDED, on)] == ["completed"]
    gone = fed(*BEGUN, stopped)
    assert [one.data["status"] for one in of(Kind.AGENT_ENDED, gone)] == ["cancelled"]


@pytest.mark.parametrize(
    ("tool", "output", "told"),
    [
        ("team_await_runs", {**RUN, "status": "completed"}, ("completed", "wait")),
        ("team_await_runs", [{**RUN, "status": "completed"}], ("completed", "wait")),
        ("team_await_runs", {"error": 'Run "run_1" failed: no'}, ("failed", "wait")),
        ("team_await_runs", {"error": 'Run "run_1" was cancelled'}, ("cancelled", "wait")),
        ("team_await_runs", {"error": "Some: run_1:failed(no)"}, ("failed", "wait")),
        ("team_list_runs", [{**RUN, "status": "running"}], ("running", "poll")),
        (
            "team_cancel_run",
            {"runId": "run_1", "status": "cancelled"},
            ("cancelled", "tool_result"),
        ),
    ],
)
def test_calls_about_runs_tell_the_parent(tool: str, output: Any, told: tuple[str, str]) -> None:
    drafts = fed(*BEGUN, called("c9", tool, runId="run_1"), returned("c9", tool, output))
    (note,) = of(Kind.NOTICE_DELIVERED, drafts)
    assert (note.agent, note.data["child"], note.data["run"]) == ("root", "mate", "run_1")
    assert (note.data["status"], note.data["form"]) == told


def test_the_root_that_wakes_by_itself_was_told_something() -> None:
    ended = team("task_end", agentId="mate", status="failed")
    woken = fed(*BEGUN, ended, hook("agent_end", ROOT), hook("agent_start", ROOT))
    (note,) = of(Kind.NOTICE_DELIVERED, woken)
    assert (note.data["child"], note.data["status"], note.data["form"]) == (
        "mate",
        "unknown",
        "wake",
    )
    waits = called("c2", "team_await_runs", runId="run_1")
    waited = returned("c2", "team_await_runs", {**RUN, "status": "completed"})
    drafts = fed(*BEGUN, waits, ended, waited, hook("agent_end", ROOT), hook("agent_start", ROOT))
    assert [one.data["form"] for one in of(Kind.NOTICE_DELIVERED, drafts)] == ["wait"]


def test_a_stored_conversation_knows_from_the_stream_whom_a_call_started() -> None:
    children: dict[str, str] = {}
    stream = LiveStdout("stdout.jsonl", children)
    for record in (hook("agent_start", ROOT), spawn("c1"), hook("agent_start", CHILD, ROOT)):
        list(stream.feed(json.dumps(record).encode(), 1, 0))
    result = {"type": "tool_result", "tool_use_id": "c1", "name": "spawn_agent"}
    told = json.dumps(spawned("c1", finishReason="error", text="no")["event"]["output"])
    messages = [{"role": "user", "content": [{**result, "content": told}]}]
    reader = LiveMessages("session.messages.json", children)
    list(reader.feed(json.dumps({"origin": {}, "messages": messages}).encode(), 1, 0))
    (note,) = of(Kind.NOTICE_DELIVERED, list(reader.end()))
    assert (note.data["child"], note.data["status"], note.source) == (CHILD, "failed", "session")


# Runs of our own, shortened


def test_it_finds_a_failed_teammate_of_whose_end_its_parent_is_told_as_of_a_success() -> None:
    case = read_case([RECORDED / "3.0.65-team-sync-child-cut"])
    (child,) = [row for row in agent_rows(case.history) if row["parent"]]
    assert child["terminal"] == {"stdout": "failed", "session": "failed"}
    assert child["told"] is not None and child["told"]["status"] == "completed"
    found = judge(case.history)
    assert found.diagnosis == "cut_stream_false_completion"
    assert {one.law for one in found.broken} == {"L3", "L16"}


def test_it_finds_a_stopped_run_that_goes_on_to_its_answer() -> None:
    case = read_case([RECORDED / "3.0.65-team-cancel-child"])
    stopped, other = (row for row in agent_rows(case.history) if row["parent"])
    assert [row["told"]["status"] for row in (stopped, other) if row["told"]] == [
        "cancelled",
        "completed",
    ]
    assert stopped["terminal"] == {"stdout": "completed", "session": "completed"}
    found = judge(case.history)
    assert found.diagnosis == "cancel_ignored"
    assert [(one.law, one.agent) for one in found.broken] == [("L7", "lifeline-1")]


def test_it_sees_in_the_stored_conversation_what_a_parent_that_never_asked_is_told() -> None:
    case = read_case([RECORDED / "3.0.65-team-parent-goes-on"])
    (child,) = [row for row in agent_rows(case.history) if row["parent"]]
    assert child["told"] is not None
    assert (child["told"]["status"], child["told"]["form"]) == ("completed", "notification")
    assert ".messages.json#/messages/" in child["told"]["ref"]
    found = judge(case.history)
    assert found.diagnosis == "healthy" and not found.broken
