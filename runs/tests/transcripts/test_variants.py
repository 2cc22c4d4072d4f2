"""Healthy logs that look broken, and broken ones that look healthy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from runs.core.events import Kind
from runs.tests.transcripts.helpers import broken, case
from runs.tests.transcripts.makers import CopilotLog, stamp

# Copilot


def test_copilot_a_child_that_is_idle_after_its_answer_is_told(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c").say(5, "answer", "A").end(5.1, "A", "c")
    log.put(5.2, "system.notification", kind={"type": "agent_idle", "agentId": "A"})
    assert broken(case(tmp_path, {"events.jsonl": log.close(7)})) == set()


def test_copilot_an_error_that_was_overcome_is_no_failure(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c")
    log.put(3, "session.error", "A", errorType="query", message="retried 1 times")
    log.say(6, "the log says: session.error, API Error", "A").end(6.1, "A", "c").tell(6.2, "A")
    assert broken(case(tmp_path, {"events.jsonl": log.close(8)})) == set()


def test_copilot_a_message_begins_a_new_run_with_its_own_end(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c").say(5, "one", "A").end(5.1, "A", "c").tell(5.2, "A")
    log.put(10, "tool.execution_start", toolCallId="w", toolName="write_agent",
            arguments={"agent_id": "A", "message": "more"})  # fmt: skip
    log.answer(10.1, "w", "sent").put(10.2, "user.message", "A", content="more")
    log.say(14, "two", "A").end(14.1, "A", "c").tell(14.2, "A")
    found = case(tmp_path, {"events.jsonl": log.close(16)})
    assert broken(found) == set()
    assert len(found.history.runs) == 2


def test_copilot_two_ends_of_one_run_are_one_too_many(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c").say(5, "one", "A").end(5.1, "A", "c").tell(5.2, "A")
    log.end(7, "A", "c")
    assert ("L1", "A") in broken(case(tmp_path, {"events.jsonl": log.close(9)}))


def test_copilot_a_notice_that_comes_twice_is_one_too_many(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c").say(5, "one", "A").end(5.1, "A", "c")
    log.tell(5.2, "A").tell(6.2, "A")
    assert ("L3", "A") in broken(case(tmp_path, {"events.jsonl": log.close(9)}))


def test_copilot_an_end_that_nobody_hears_of_is_lost(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c").say(5, "one", "A").end(5.1, "A", "c")
    assert ("L3", "A") in broken(case(tmp_path, {"events.jsonl": log.close(900)}))


def test_copilot_a_tool_after_the_end_is_a_zombies(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c").say(5, "one", "A").end(5.1, "A", "c").tell(5.2, "A")
    log.put(9, "tool.execution_start", "A", toolCallId="z", toolName="view", arguments={})
    assert ("L12", "A") in broken(case(tmp_path, {"events.jsonl": log.close(12)}))


def test_copilot_a_sync_child_that_fails_and_says_so_is_well_reported(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c", mode="sync")
    log.put(4, "session.error", "A", errorType="rate_limit", statusCode=429, message="no")
    log.end(4.1, "A", "c", "failed").answer(4.2, "c", "rate limited", ok=False)
    found = case(tmp_path, {"events.jsonl": log.close(6)})
    assert broken(found) == set()
    told = found.history.of(Kind.NOTICE_DELIVERED)
    assert [(one.get("form"), one.get("status")) for one in told] == [("tool_result", "failed")]


def test_copilot_a_silent_tool_of_eight_minutes_is_no_stall(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c")
    log.put(2, "tool.execution_start", "A", toolCallId="t", toolName="bash", arguments={})
    log.put(490, "tool.execution_complete", "A", toolCallId="t", success=True, result={})
    log.say(495, "built", "A").end(495.1, "A", "c").tell(495.2, "A")
    assert broken(case(tmp_path, {"events.jsonl": log.close(500)})) == set()


def test_copilot_a_child_that_falls_silent_stalls(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c").put(2, "assistant.turn_start", "A", turnId="0")
    log.put(3, "tool.execution_start", "A", toolCallId="t", toolName="view", arguments={})
    log.put(4, "tool.execution_complete", "A", toolCallId="t", success=True, result={})
    log.put(900, "user.message", content="still there?").say(901, "It is still running.")
    assert ("L5", "A") in broken(case(tmp_path, {"events.jsonl": log.records}))


def test_copilot_names_and_call_ids_of_old_versions_are_one_agent(tmp_path: Path) -> None:
    log = CopilotLog("1.0.60")
    log.put(1, "tool.execution_start", toolCallId="call_1", toolName="task",
            arguments={"name": "kid", "mode": "background"})  # fmt: skip
    log.answer(1.1, "call_1", "Agent started in background with agent_id: kid. You'll be told.")
    log.put(1.2, "subagent.started", "call_1", toolCallId="call_1", agentName="gp",
            agentDisplayName="General Purpose Agent")  # fmt: skip
    log.say(3, "answer", "call_1").end(3.1, "call_1", "call_1").tell(3.2, "kid")
    found = case(tmp_path, {"events.jsonl": log.close(5)})
    assert broken(found) == set()
    assert [agent.id for agent in found.history.children] == ["call_1"]
    assert found.history.children[0].name == "kid"


def test_copilot_a_grandchild_tells_its_own_parent(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c").spawn(2, "B", "d", owner="A")
    log.say(4, "low", "B").end(4.1, "B", "d").tell(4.2, "B", owner="A")
    log.say(6, "high", "A").end(6.1, "A", "c").tell(6.2, "A")
    assert broken(case(tmp_path, {"events.jsonl": log.close(8)})) == set()


def test_copilot_a_notice_to_the_wrong_parent_is_misrouted(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c").spawn(2, "B", "d", owner="A")
    log.say(4, "low", "B").end(4.1, "B", "d").tell(4.2, "B")
    log.say(6, "high", "A").end(6.1, "A", "c").tell(6.2, "A")
    assert ("L9", "B") in broken(case(tmp_path, {"events.jsonl": log.close(8)}))


def test_copilot_an_idle_that_lists_what_is_open_is_honest(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c").say(2, "waiting")
    tasks = {"agents": [{"agentId": "A"}], "shells": []}
    log.put(2.1, "session.idle", backgroundTasks=tasks)
    log.say(5, "one", "A").end(5.1, "A", "c").tell(5.2, "A")
    assert broken(case(tmp_path, {"stdout.jsonl": log.close(7)})) == set()


def test_copilot_a_cancel_that_the_client_asked_for_is_no_overreach(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c").say(2, "waiting")
    log.put(30, "abort", reason="user_initiated")
    log.put(30.1, "subagent.failed", "A", toolCallId="c", error="cancelled")
    log.tell(30.2, "A", "cancelled")
    acp = [
        {"t_ms": 50, "dir": "c2s", "msg": {"jsonrpc": "2.0", "id": 1, "method": "session/prompt",
         "params": {"sessionId": "s", "prompt": []}}},
        {"t_ms": 29900, "dir": "c2s", "msg": {"jsonrpc": "2.0", "method": "session/cancel",
         "params": {"sessionId": "s"}}},
        {"t_ms": 30300, "dir": "s2c", "msg": {"jsonrpc": "2.0", "id": 1,
         "result": {"stopReason": "cancelled"}}},
    ]  # fmt: skip
    found = case(tmp_path, {"events.jsonl": log.close(40), "acp.jsonl": acp})
    assert broken(found) == set()
    assert [one.get("by") for one in found.history.of(Kind.CANCEL_REQUESTED)] == ["user"]


def test_copilot_a_permission_that_the_client_shows_may_wait_for_its_person(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c")
    log.put(2, "permission.requested", "A", requestId="q", permissionRequest={"toolCallId": "t"})
    log.put(900, "permission.completed", "A", requestId="q", result={"kind": "approved"})
    log.say(902, "done", "A").end(903, "A", "c").tell(904, "A")
    asked = {"sessionId": "s", "toolCall": {"toolCallId": "t", "title": "rm"}, "options": []}
    acp = [
        {"t_ms": 2010, "dir": "s2c", "msg": {"jsonrpc": "2.0", "id": 7,
         "method": "session/request_permission", "params": asked}},
    ]  # fmt: skip
    records = log.close(906)
    shown = {"events.jsonl": records, "acp.jsonl": acp}
    assert broken(case(tmp_path / "both", shown)) == set()
    # Whoever approves has seen it; what is denied at last may have been seen by nobody.
    assert broken(case(tmp_path / "log", {"events.jsonl": records})) == set()
    (answer,) = [one for one in records if one["type"] == "permission.completed"]
    answer["data"]["result"]["kind"] = "denied-no-approval-rule"
    assert broken(case(tmp_path / "denied", {"events.jsonl": records})) == {("L14", "A")}


def test_copilot_a_child_that_goes_on_after_an_abort_was_not_reached(tmp_path: Path) -> None:
    log = CopilotLog().spawn(1, "A", "c").put(10, "abort", reason="user_initiated")
    for at in (20, 25):
        log.put(at, "tool.execution_start", "A", toolCallId=f"t{at}", toolName="edit", arguments={})
        log.put(
            at + 1, "tool.execution_complete", "A", toolCallId=f"t{at}", success=True, result={}
        )
    log.say(30, "edited", "A").end(30.1, "A", "c").tell(30.2, "A")
    assert ("L7", "A") in broken(case(tmp_path, {"events.jsonl": log.close(40)}))


# Others


def test_hooks_that_list_what_still_runs_accuse_nobody(tmp_path: Path) -> None:
    def hook(at: float, name: str, **more: object) -> dict[str, object]:
        return {"received_at": stamp(at), "hook_event_name": name, "session_id": "s", **more}

    records = [
        hook(1, "SubagentStart", agent_id="h1", agent_type="gp"),
        hook(9, "Stop", background_tasks=[{"id": "h1", "type": "subagent", "status": "running"}]),
        hook(30, "SubagentStop", agent_id="h1", stop_hook_active=False),
        hook(31, "SubagentStop", agent_id="h1", stop_hook_active=True),
        hook(40, "Stop", background_tasks=[]),
    ]
    assert broken(case(tmp_path, {"hooks.jsonl": records})) == set()


def test_opencode_a_question_that_nobody_answers_blocks_the_child(tmp_path: Path) -> None:
    def bus(at: float, type: str, **properties: object) -> dict[str, object]:
        return {"type": type, "properties": properties, "time": 1791190800000 + int(at * 1000)}

    start = [
        bus(0, "session.created", info={"id": "p"}),
        bus(1, "session.created", info={"id": "c", "parentID": "p"}),
        bus(1.1, "session.status", sessionID="c", status={"type": "busy"}),
        bus(2, "permission.asked", id="q", sessionID="c", permission="bash"),
    ]
    end = [
        bus(700, "message.updated", info={"id": "m", "sessionID": "c", "role": "assistant",
            "finish": "stop", "time": {"completed": 1}}),
        bus(700.1, "session.idle", sessionID="c"),
    ]  # fmt: skip
    asked = case(tmp_path / "a", {"events.jsonl": [*start, bus(900, "server.heartbeat")]})
    assert ("L14", "c") in broken(asked)
    assert ("L5", "c") not in broken(asked)
    reply = bus(9, "permission.replied", sessionID="c", requestID="q", reply="once")
    answered = case(tmp_path / "b", {"events.jsonl": [*start, reply, *end]})
    assert ("L14", "c") not in broken(answered)


def test_codex_a_refusal_while_the_slots_are_taken_is_just(tmp_path: Path) -> None:
    def item(kind: str, **more: object) -> dict[str, object]:
        return {"type": f"item.{kind}", "item": {"type": "collab_tool_call",
                "sender_thread_id": "r", "agents_states": {}, **more}}  # fmt: skip

    records = [
        {"type": "thread.started", "thread_id": "r"},
        {"type": "turn.started"},
        item("started", id="1", tool="spawn_agent", receiver_thread_ids=[], status="in_progress"),
        item("completed", id="1", tool="spawn_agent", receiver_thread_ids=["a"],
             status="completed"),
        item("started", id="2", tool="spawn_agent", receiver_thread_ids=[], status="in_progress"),
        item("completed", id="2", tool="spawn_agent", receiver_thread_ids=[], status="failed"),
        {"type": "item.completed", "item": {"id": "3", "type": "error",
         "message": "collab spawn failed: agent thread limit reached"}},
        item("completed", id="4", tool="wait", receiver_thread_ids=["a"], status="completed",
             agents_states={"a": {"status": "completed", "message": "ok"}}),
        {"type": "turn.completed"},
    ]  # fmt: skip
    config = b"[agents]\nmax_threads = 1\n"
    found = case(tmp_path, {"exec.jsonl": records, "config.toml": config})
    assert broken(found) == set()
    (answer,) = [one for one in found.history.of(Kind.SPAWN_ANSWERED) if not one.get("ok")]
    assert (answer.get("refusal"), answer.line) == ("limit", 6)


def test_a_request_log_alone_shows_the_retries(tmp_path: Path) -> None:
    rows = [
        {"t_ms": at, "agent": "kid", "attempt": n, "status": 429, "fault": "x", "end_ms": at + 9,
         "retry_after_s": 30}
        for n, at in enumerate((0, 1000, 2000, 3000), 1)
    ]  # fmt: skip
    rows.append({"t_ms": 9000, "observer": "end_of_capture", "requests_total": 4})
    assert ("L6", "kid") in broken(case(tmp_path, {"provider.jsonl": rows}))


def test_codex_a_spawn_refused_for_another_reason_is_no_lost_slot(tmp_path: Path) -> None:
    def collab(tool: str, child: str, word: str = "") -> dict[str, Any]:
        told = {child: {"status": word, "message": "fine"}} if child else {}
        return {"type": "item.completed", "item": {
            "id": f"i-{tool}-{child}", "type": "collab_tool_call", "tool": tool,
            "sender_thread_id": "R", "receiver_thread_ids": [child] if child else [],
            "agents_states": told, "status": "completed" if child else "failed"}}  # fmt: skip

    def said(why: str) -> dict[str, Any]:
        return {"type": "item.completed", "item": {"id": "e", "type": "error", "message": why}}

    records: list[dict[str, Any]] = [{"type": "thread.started", "thread_id": "R"}]
    for name in ("A", "B"):
        records += [collab("spawn_agent", name, "running"), collab("wait", name, "completed")]
    records.append(collab("spawn_agent", ""))
    config = b"[agents]\nmax_threads = 2\n"
    full: set[tuple[str, str]] = {("L11", "R")}
    for why, wanted in (("no such role", set()), ("thread limit reached", full)):
        files = {"exec.jsonl": [*records, said(why)], "config.toml": config}
        assert broken(case(tmp_path / why, files)) == wanted
