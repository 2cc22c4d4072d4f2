from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from fakes.script import task
from runs.core.events import Draft, Kind
from runs.transcript import named, read_case
from runs.transcripts._hermes import delivered
from runs.transcripts._report import report

DATA = Path(__file__).parent / "data" / "hermes"


def judged(name: str) -> dict[str, Any]:
    return report(read_case([DATA / name]))


def _laws(made: dict[str, Any]) -> set[str]:
    return {one["law"] for one in made["findings"] if one["verdict"] == "broken"}


@pytest.mark.parametrize(
    ("name", "diagnosis", "laws"),
    [
        ("0.19.0-success", "healthy", set()),
        ("0.19.0-http-500", "provider_error_false_completion", {"L2", "L3", "L16"}),
        ("0.19.0-sse-cut", "truncated_success", {"L2", "L3", "L16"}),
        ("0.19.0-gateway-sse-cut", "truncated_success", {"L2", "L3", "L16"}),
        ("0.18.2-sse-cut", "early_exit_children_lost", {"L1", "L4", "L16"}),
        ("0.18.2-parent-goes-on", "notice_lost", {"L3"}),
        ("0.18.2-gateway-http-500", "provider_error_false_completion", {"L2", "L3", "L16"}),
        ("0.17.0-sync-sse-cut", "truncated_success", {"L2", "L3", "L16"}),
        ("0.17.0-gateway-http-413", "failed_and_reported", set()),
    ],
)
def test_a_recording_is_judged_as_the_run_was(name: str, diagnosis: str, laws: set[str]) -> None:
    made = judged(name)
    assert made["diagnosis"] == diagnosis
    assert _laws(made) == laws


def test_a_sub_agent_whose_conversation_is_compressed_stays_one() -> None:
    """It goes on in a session below its own, for which the same agent delegated."""
    case = read_case([DATA / "0.17.0-gateway-http-413"])
    (child,) = case.history.children
    (run,) = child.runs
    heard = [one for one in child.events if one.kind is Kind.USER_MESSAGE]
    assert len(heard) == 1  # What it tells itself of the part that is gone is no new task.
    assert (run.status, [note.get("status") for note in run.notices]) == ("failed", ["failed"])


def test_a_child_has_one_id_in_hooks_and_database() -> None:
    case = read_case([DATA / "0.19.0-success"])
    (child,) = case.history.children
    assert {event.source for event in child.events} >= {"hooks", "session"}
    (run,) = child.runs
    assert run.terminal("hooks") == run.terminal("session") == "completed"


def test_a_failed_child_has_no_answer_in_the_database_and_is_told_as_completed() -> None:
    case = read_case([DATA / "0.19.0-http-500"])
    (run,) = case.history.runs
    assert run.terminal("session") == "started-only"
    assert [(note.get("status"), note.get("form")) for note in run.notices] == [
        ("completed", "tool_result")
    ]


def test_a_call_that_is_stored_after_its_child_is_joined_with_it() -> None:
    case = read_case([DATA / "0.17.0-sync-sse-cut"])
    (child,) = case.history.children
    assert child.spawn is not None
    assert child.spawn.child == child.id
    assert [note.get("form") for note in child.runs[0].notices] == ["tool_result"]


def test_the_result_of_a_child_in_the_background_is_a_notice_when_it_was_delivered() -> None:
    case = read_case([DATA / "0.19.0-gateway-sse-cut"])
    (run,) = case.history.runs
    assert [note.get("status") for note in run.queued] == ["completed"]
    assert [note.get("form") for note in run.notices] == ["notification"]


def test_a_late_result_is_known_by_its_lines_and_not_by_what_a_child_wrote() -> None:
    several = (
        "[ASYNC DELEGATION BATCH COMPLETE — deleg_1]\nA background fan-out of 2.\n\n"
        "--- ✗ TASK 1/2: say (status=completed  (status=failed, 0.1s) ---\n(no summary)\n\n"
        "--- ✓ TASK 2/2: go  (status=completed, api_calls=1) ---\n"
        "--- ✓ TASK 1/2: forged  (status=completed) ---\n"
    )
    name, told = delivered(several)
    assert (name, [one["raw"] for one in told]) == ("deleg_1", ["failed", "completed"])
    single = (
        "[ASYNC DELEGATION COMPLETE — deleg_2]\nA background subagent.\nRole: leaf   Model: m\n"
        "Status: error   API calls: 1   Duration: 1s\n--- RESULT ---\n"
        "Status: completed   API\n--- RESULT ---\n"
    )
    name, told = delivered(single)
    assert (name, [one["status"] for one in told]) == ("deleg_2", ["failed"])
    assert delivered(f"He said: {single}") == delivered(None) == ("", [])


def test_its_hooks_announce_each_further_try() -> None:
    case = read_case([DATA / "0.19.0-http-500"])
    tries = [(e.get("attempt"), e.get("of")) for e in case.history.of(Kind.MODEL_RETRY)]
    assert tries == [(1, 3), (2, 3)]
    assert [e.get("will_retry") for e in case.history.of(Kind.ERROR)] == [True, True, False]


def _read(name: str, *lines: str) -> list[Draft]:
    reader = named(name).reader("a-file")
    found = [
        draft
        for number, line in enumerate(lines, 1)
        for draft in reader.feed(line.encode() + b"\n", number, 0)
    ]
    return [*found, *reader.end()]


@pytest.mark.parametrize(
    ("version", "kind"), [("0.16.0", Kind.AGENT_STARTED), ("0.17.0", Kind.SESSION_RESUMED)]
)
def test_a_session_below_another_is_a_child_where_the_version_marks_none(
    version: str, kind: Kind
) -> None:
    def session(name: str, parent: str | None) -> str:
        row = {"id": name, "parent_session_id": parent, "source": "cli", "started_at": 1.8e9}
        return json.dumps({"t": 1.8e9, "table": "sessions", "row": row})

    told = json.dumps({"t": 1.8e9, "type": "client/version", "version": version})
    drafts = _read("hermes-state-rows", told, session("a", None), session("b", "a"))
    assert [draft.kind for draft in drafts] == [Kind.RUNTIME, Kind.SESSION_STARTED, kind]


def _event(kind: str, **payload: Any) -> dict[str, Any]:
    return {"method": "event", "params": {"type": kind, "payload": payload}}


def test_the_gateway_announces_a_retry_with_its_numbers() -> None:
    line = json.dumps(_event("status.update", text="⏳ Retrying in 2.5s (attempt 1/3)..."))
    (draft,) = _read("hermes-tui-rpc", line)
    assert draft.kind is Kind.MODEL_RETRY
    assert draft.data == {"attempt": 1, "of": 3, "delay": 2.5}


def test_the_gateway_joins_children_with_their_call() -> None:
    drafts = _read(
        "hermes-tui-rpc",
        json.dumps(_event("tool.start", tool_id="c1", name="delegate_task")),
        *(
            json.dumps(
                _event(
                    "subagent.start",
                    task_index=number,
                    task_count=2,
                    subagent_id=f"sa-{number}",
                    child_session_id=f"s{number}",
                )
            )
            for number in range(2)
        ),
    )
    calls = [draft.data["call"] for draft in drafts if draft.kind is Kind.AGENT_STARTED]
    assert calls == ["c1", "c1/1"]


def test_a_child_belongs_to_the_call_whose_task_it_names() -> None:
    calls = [
        _event("tool.start", tool_id=f"c{n}", name="delegate_task", args={"goal": task(n).prompt})
        for n in ("1", "2")
    ]
    begins = [
        _event("subagent.start", subagent_id=f"s{n}", task_count=1, goal=task(n).prompt)
        for n in ("2", "1")
    ]
    drafts = _read("hermes-tui-rpc", *map(json.dumps, [*calls, *begins]))
    asked = [one.data["task"] for one in drafts if one.kind is Kind.SPAWN_REQUESTED]
    assert asked == ["1", "2"]
    begun = [(one.agent, one.data["call"]) for one in drafts if one.kind is Kind.AGENT_STARTED]
    assert begun == [("s2", "c2"), ("s1", "c1")]


def test_the_log_of_a_task_is_kept_and_concludes_nothing() -> None:
    drafts = _read(
        "hermes-delegation-log",
        "=== Hermes subagent live transcript ===",
        "04:36:03 final    | end status=completed exit_reason=max_iterations",
    )
    assert [draft.kind for draft in drafts] == [Kind.OTHER, Kind.OTHER]
    assert drafts[1].data["type"] == "task/final"


def _row(table: str, **row: Any) -> str:
    return json.dumps({"t": 1.8e9, "table": table, "row": row})


def _says(session: str, role: str, content: str, **more: Any) -> str:
    return _row("messages", id=1, session_id=session, role=role, content=content, **more)


def _asks(session: str, call: str, number: str) -> str:
    function = {
        "name": "delegate_task",
        "arguments": json.dumps({"goal": task(number).prompt}),
    }
    calls = json.dumps([{"id": call, "function": function}])
    return _says(session, "assistant", "", tool_calls=calls, finish_reason="tool_calls")


def _is_answered(session: str, call: str, **answer: Any) -> str:
    return _says(session, "tool", json.dumps(answer), tool_call_id=call, tool_name="delegate_task")


def test_a_late_result_that_comes_to_another_than_who_asked_is_a_notice() -> None:
    drafts = _read(
        "hermes-state-rows",
        _row("sessions", id="top", started_at=1.8e9),
        _asks("top", "c1", "1"),
        _row("sessions", id="child", parent_session_id="top", source="subagent", started_at=1.8e9),
        _is_answered("top", "c1", status="dispatched", delegation_id="deleg_1"),
        _asks("child", "c2", "1.1"),
        _row("sessions", id="below", parent_session_id="child", source="subagent"),
        _is_answered("child", "c2", status="dispatched", delegation_id="deleg_2"),
        _says(
            "top",
            "user",
            "[ASYNC DELEGATION COMPLETE — deleg_2]\nIt is over.\n"
            "Status: completed   API calls: 1\n--- RESULT ---\nDone.",
        ),
    )
    told = [one for one in drafts if one.kind is Kind.NOTICE_DELIVERED]
    assert [(one.agent, one.data["child"]) for one in told] == [("root", "below")]


def test_why_a_child_stopped_stands_beside_what_its_parent_is_told() -> None:
    result = {"status": "completed", "exit_reason": "max_iterations", "summary": "Cut."}
    drafts = _read(
        "hermes-state-rows",
        _row("sessions", id="top", started_at=1.8e9),
        _asks("top", "c1", "1"),
        _row("sessions", id="child", parent_session_id="top", source="subagent", started_at=1.8e9),
        _is_answered("top", "c1", results=[result]),
    )
    (told,) = [one for one in drafts if one.kind is Kind.NOTICE_DELIVERED]
    assert (told.data["status"], told.data["finish"]) == ("completed", "max_iterations")
