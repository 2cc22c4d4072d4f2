"""OpenCode: exports and bus events that look broken or healthy and are not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runs.tests.transcripts.helpers import broken, case

START = 1791190800000


def _message(name: str, role: str, at: float, done: float | None, words: str, **info: Any) -> Any:
    times: dict[str, int] = {"created": START + int(at * 1000)}
    if done is not None:
        times["completed"] = START + int(done * 1000)
    parts = [{"type": "text", "text": words}] if words else []
    return {"info": {"id": name, "role": role, "time": times, **info}, "parts": parts}


def _task(status: str = "completed", result: str = "found it", **state: Any) -> dict[str, Any]:
    found = {
        "status": status,
        "input": {"description": "d"},
        "metadata": {"sessionId": "c", **state.pop("meta", {})},
        "time": {"start": START + 1000, "end": START + 9000},
        **state,
    }
    if status == "completed":
        found["output"] = f"task_id: c\n\n<task_result>\n{result}\n</task_result>"
    return {"id": "pt", "type": "tool", "tool": "task", "callID": "k", "state": found}


def _parent(task: dict[str, Any]) -> dict[str, Any]:
    asked = _message("2", "assistant", 0.5, 9.5, "", finish="tool-calls")
    asked["parts"].append(task)
    messages = [_message("1", "user", 0, None, "go"), asked,
                _message("3", "assistant", 10, 11, "done", finish="stop")]  # fmt: skip
    return {"info": {"id": "p", "version": "1.18.20", "time": {"created": START}},
            "messages": messages}  # fmt: skip


def _child(*messages: Any) -> dict[str, Any]:
    return {
        "info": {"id": "c", "parentID": "p", "version": "1.18.20", "time": {"created": START}},
        "messages": [_message("c1", "user", 1, None, "p"), *messages],
    }


ANSWER = _message("c9", "assistant", 3.2, 8.5, "found it", finish="stop")
REFUSED = {"name": "APIError", "data": {"statusCode": 503, "message": "x"}}
ABORTED = {"name": "MessageAbortedError", "data": {"message": "Aborted"}}


@pytest.mark.parametrize(
    ("task", "child", "wanted"),
    [
        (_task(), [ANSWER], set()),
        (_task(), [_message("e", "assistant", 1.2, 3, "", error=REFUSED), ANSWER], set()),
        (_task(result="it quotes APIError 503"),
         [_message("c9", "assistant", 3, 8, "it quotes APIError 503", finish="stop")], set()),
        (_task("error", error="Subagent failed"),
         [_message("e", "assistant", 1.2, 8, "", error=REFUSED)], set()),
        (_task("error", error="aborted", meta={"interrupted": True}),
         [_message("e", "assistant", 1.2, 8, "", error=ABORTED)], set()),
        (_task(result=""), [ANSWER], {("L3", "c")}),
        (_task(), [_message("c9", "assistant", 3, 8, "found i", finish="length")], {("L2", "c")}),
        (_task(result="fou"), [_message("c9", "assistant", 3, 8, "fou", finish="unknown",
         tokens={"input": 0, "output": 0})], {("L2", "c"), ("L3", "c")}),
    ],
    ids=["healthy", "overcome", "quoted", "error-told", "aborted", "result-dropped", "length",
         "cut-without-usage"],
)  # fmt: skip
def test_it_judges_exports(
    task: dict[str, Any], child: list[Any], wanted: set[tuple[str, str]], tmp_path: Path
) -> None:
    files = {"p.json": _parent(task), "c.json": _child(*child)}
    assert broken(case(tmp_path, files)) == wanted


def test_it_judges_one_export_alone(tmp_path: Path) -> None:
    assert broken(case(tmp_path / "child", {"c.json": _child(ANSWER)})) == set()
    assert broken(case(tmp_path / "parent", {"p.json": _parent(_task())})) == set()


def _bus(at: float, type: str, **properties: Any) -> dict[str, Any]:
    return {"type": type, "properties": properties, "time": START + int(at * 1000)}


def _part(at: float, status: str, output: str | None = None, **given: Any) -> dict[str, Any]:
    state: dict[str, Any] = {"status": status, "input": given, "metadata": {"sessionId": "c"}}
    if output is not None:
        state["output"] = output
    part = {"id": "pt", "sessionID": "p", "type": "tool", "tool": "task", "callID": "k",
            "state": state}  # fmt: skip
    return _bus(at, "message.part.updated", part=part)


BEGIN = [
    _bus(0, "session.created", info={"id": "p"}),
    _bus(1, "session.created", info={"id": "c", "parentID": "p"}),
    _bus(1.1, "session.status", sessionID="c", status={"type": "busy"}),
]
END = [
    _bus(8, "message.updated", info={"id": "m", "sessionID": "c", "role": "assistant",
         "finish": "stop", "time": {"completed": 1}}),
    _bus(8.1, "session.idle", sessionID="c"),
]  # fmt: skip
DONE = _part(9, "completed", "<task_result>\nok\n</task_result>")
RETRY = _bus(2, "session.status", sessionID="c",
             status={"type": "retry", "attempt": 1, "next": START + 4000})  # fmt: skip


@pytest.mark.parametrize(
    ("events", "wanted"),
    [
        ([_part(1, "running"), RETRY, *END, DONE], set()),
        ([_part(1, "running"), _bus(5, "session.error", sessionID="c", error=ABORTED),
          _bus(5.1, "session.idle", sessionID="c")], set()),
        ([_part(1, "running"), _bus(5, "session.error", sessionID="c", error=REFUSED),
          _bus(5.1, "session.idle", sessionID="c"), DONE], {("L2", "c"), ("L3", "c")}),
        ([_part(1, "running"), _bus(1.5, "message.part.delta", sessionID="c", delta="x"),
          _bus(900, "server.heartbeat")], {("L1", "c"), ("L5", "c")}),
        ([_part(1, "running", background=True), _part(1.2, "completed", "started"),
          _bus(2, "session.idle", sessionID="p"), *END], {("L4", "p")}),
    ],
    ids=["retried", "aborted", "false-completion", "stall", "early-idle"],
)  # fmt: skip
def test_it_judges_bus_events(
    events: list[dict[str, Any]], wanted: set[tuple[str, str]], tmp_path: Path
) -> None:
    assert broken(case(tmp_path, {"events.jsonl": [*BEGIN, *events]})) == wanted
