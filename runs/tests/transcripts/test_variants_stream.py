"""Claude's stream-json and a provider's log: what ends early, twice, late, or well."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runs.tests.transcripts.helpers import broken, case
from runs.tests.transcripts.makers import CopilotLog


def _record(type: str, **more: Any) -> dict[str, Any]:
    return {"type": type, "session_id": "s", "parent_tool_use_id": None, **more}


def _use(call: str, tool: str = "Agent", background: bool = True) -> dict[str, Any]:
    given = {"run_in_background": background}
    block = {"type": "tool_use", "id": call, "name": tool, "input": given}
    return _record("assistant", message={"content": [block]})


def _result(call: str, words: str) -> dict[str, Any]:
    block = {"type": "tool_result", "tool_use_id": call, "content": words}
    return _record("user", message={"content": [block]})


def _say(words: str, parent: str | None = None) -> dict[str, Any]:
    message = {"content": [{"type": "text", "text": words}], "stop_reason": "end_turn"}
    return _record("assistant", message=message) | {"parent_tool_use_id": parent}


def _task(word: str, **more: Any) -> dict[str, Any]:
    return _record("system", subtype=f"task_{word}", task_id="t", tool_use_id="a", **more)


INIT = _record("system", subtype="init", model="m")
DONE = _record("result", subtype="success", is_error=False, result="x")
SPAWN = [INIT, _use("a"), _task("started"), _result("a", "launched"), _say("waiting")]
TOLD = [_say("child", "a"), _task("notification", status="completed", summary="ok")]
EXIT = {"exit_code": 0, "signal": None, "wall_ms": 9000}


@pytest.mark.parametrize(
    ("records", "wanted"),
    [
        ([*SPAWN, *TOLD, INIT, _say("done"), DONE], set()),
        ([*SPAWN, DONE, *TOLD, INIT, _say("done"), DONE], set()),
        ([*SPAWN, DONE, *TOLD], {("L4", "root")}),
        ([INIT, _use("a", background=False), _task("started", is_backgrounded=False), *TOLD,
          _result("a", "child"), _say("done"), DONE], set()),
        ([INIT, _use("b", "Bash"), _task("started", task_type="local_bash"),
          _result("b", "runs"), _say("done"), DONE], set()),
        ([*SPAWN, _task("notification", status="failed", summary="API Error"), _say("failed"),
          DONE], set()),
        ([*SPAWN, *TOLD, _say("ok"), *TOLD, _say("ok"), DONE], {("L3", "t")}),
    ],
    ids=["healthy", "a-result-a-turn", "early-result", "foreground", "shell", "failed-and-told",
         "told-twice"],
)  # fmt: skip
def test_it_judges_a_headless_run(
    records: list[dict[str, Any]], wanted: set[tuple[str, str]], tmp_path: Path
) -> None:
    assert broken(case(tmp_path, {"stream.jsonl": records, "exit.json": EXIT})) == wanted


def _request(at: int, agent: str, n: int = 1, status: int = 200, **more: Any) -> dict[str, Any]:
    return {"t_ms": at, "request": f"r{at}", "agent": agent, "model": "m", "attempt": n,
            "status": status, "fault": None, "end_ms": at + 50, **more}  # fmt: skip


def _good() -> list[dict[str, Any]]:
    log = CopilotLog().spawn(1, "A", "c").say(5, "answer", "A").end(5.1, "A", "c").tell(5.2, "A")
    return log.close(8)


def _failed() -> list[dict[str, Any]]:
    log = CopilotLog().spawn(1, "A", "c")
    log.put(6, "session.error", "A", errorType="query", message="x")
    return log.end(6.1, "A", "c", "failed").tell(6.2, "A", "failed").close(8)


def _tries(status: int, *times: int, last: int = 0) -> list[dict[str, Any]]:
    rows = [_request(at, "A", n, status) for n, at in enumerate(times, 1)]
    if last:
        rows[-1]["status"] = last
    return rows


@pytest.mark.parametrize(
    ("events", "requests", "wanted"),
    [
        (_good(), [_request(1500, "A")], set()),
        (_good(), _tries(500, 1500, 2100, 3300, last=200), set()),
        (_good(), [_request(1500, "A", fault="slow_first_byte")], set()),
        (_failed(), _tries(500, 1500, 2100, 3300, 5700), set()),
        (_good(), [_request(1500, "A"), _request(6500, "A")], {("L12", "A")}),
        (_good(), [_request(1500, "A", fault="closed_before_final_event")],
         {("L2", "A"), ("L3", "A")}),
        (_failed(), _tries(400, 1500, 2100, 3300), {("L6", "A")}),
        (_failed(), [_request(1500, "A", 1, 503, retry_after_s=2)], {("L6", "A")}),
    ],
    ids=["healthy", "recovered", "slow", "backed-off", "zombie", "cut", "permanent", "no-retry"],
)  # fmt: skip
def test_it_judges_by_what_the_provider_saw(
    events: list[dict[str, Any]],
    requests: list[dict[str, Any]],
    wanted: set[tuple[str, str]],
    tmp_path: Path,
) -> None:
    files = {"events.jsonl": events, "provider.jsonl": [_request(50, "root"), *requests]}
    assert broken(case(tmp_path, files)) == wanted
