"""Copilot's records about status, model calls, questions and control."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from runs.core.events import ROOT, Kind
from runs.transcripts._values import (
    error_class,
    integer,
    is_watchdog,
    items,
    length,
    mapping,
    seconds,
    text,
)

if TYPE_CHECKING:
    from runs.transcripts._copilot import Copilot

Handler = Callable[["Copilot", Mapping[str, Any], str], None]


def _ids(value: Any) -> list[str]:
    """Ids of a list of tasks, each a text or an object that has one."""
    found = []
    for item in items(value):
        name = (
            item
            if isinstance(item, str)
            else mapping(item).get("agentId") or mapping(item).get("id")
        )
        if name:
            found.append(text(name))
    return found


def _shutdown(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    reader.add(Kind.SESSION_ENDED, agent, how=text(data.get("shutdownType")))


def _resume(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    reader.facts.setdefault("version", text(data.get("copilotVersion")))
    reader.add(
        Kind.SESSION_RESUMED,
        agent,
        session=text(data.get("sessionId")),
        version=text(data.get("copilotVersion")),
    )


def _idle(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    tasks = data.get("backgroundTasks")
    listed = [reader.canonical(name) for name in _ids(mapping(tasks).get("agents"))]
    word = "idle"
    if reader.native == "assistant.idle" and agent == ROOT:
        # Written after every turn, also while children run: the turn is over, not the work.
        open_ones = [name for name, child in reader.children.items() if not child.ended]
        word = "waiting" if open_ones else "idle"
    reader.add(
        Kind.STATUS,
        agent,
        status=word,
        raw=reader.native,
        inferred=word == "waiting",
        open=listed if isinstance(tasks, dict) else None,
    )


def _tasks_changed(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    tasks = data.get("backgroundTasks", data if "agents" in data else None)
    if not isinstance(tasks, dict):
        reader.other(reader.native, agent=agent)
        return
    reader.add(
        Kind.REGISTRY,
        agent,
        open=[reader.canonical(name) for name in _ids(tasks.get("agents"))],
        shells=len(items(tasks.get("shells"))),
        what=reader.native,
    )


def _abort(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    reason = text(data.get("reason"))
    by = "user" if reason.startswith("user") else None
    reader.add(Kind.ABORTED, agent, reason=reason, by=by, target=agent)
    if is_watchdog(reason):
        reader.add(Kind.WATCHDOG, agent, target=agent, action="aborted", reason=reason)


def _model_change(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    before, after = text(data.get("previousModel")), text(data.get("newModel"))
    reader.add(
        Kind.MODEL_CHANGED,
        agent,
        **{"from": before or None, "to": after, "by": text(data.get("source"))},
    )


def _call_start(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    reader.failure.pop(agent, None)
    reader.add(Kind.MODEL_STARTED, agent, model=text(data.get("model")))


def _call_failure(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    reader.failure[agent] = data
    reader.other(reader.native, summary=text(data.get("failureKind")), agent=agent)


def _call_finished(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    """One call's end; the failure record before it says what went wrong."""
    outcome = text(data.get("outcome"))
    failure = reader.failure.pop(agent, {})
    retried = integer(failure.get("retryAttempt"))
    reader.add(
        Kind.MODEL_ENDED,
        agent,
        ok=outcome == "success" if outcome else None,
        http_status=integer(failure.get("statusCode")),
        error_class=None
        if outcome == "success"
        else error_class(failure.get("errorType") or "stream", failure.get("statusCode")),
        duration=seconds(data.get("dispatchDurationMs")),
        attempt=None if retried is None else retried + 1,
    )


def _turn_retry(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    reader.add(
        Kind.MODEL_RETRY,
        agent,
        reason=text(data.get("reason")),
        attempt=integer(data.get("attempt")),
        delay=seconds(data.get("delayMs")),
    )


def _delta(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    content = data.get("deltaContent")
    what = "text"
    if content is None:
        content, what = data.get("inputDelta"), "tool"
    reader.add(Kind.DELTA, agent, text_length=length(content), what=what)


def _asked(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    request = mapping(data.get("permissionRequest"))
    what = "permission" if reader.native.startswith("permission") else "question"
    reader.add(
        Kind.QUESTION_ASKED,
        agent,
        id=text(data.get("requestId")),
        what=what,
        tool=text(request.get("kind") or data.get("toolName")),
        call=text(request.get("toolCallId") or data.get("toolCallId")),
    )


def _answered(reader: Copilot, data: Mapping[str, Any], agent: str) -> None:
    answer = mapping(data.get("result")).get("kind") or data.get("answer") or data.get("action")
    reader.add(
        Kind.QUESTION_ANSWERED, agent, id=text(data.get("requestId")), answer=text(answer, 80)
    )


REST: Mapping[str, Handler] = {
    "session.shutdown": _shutdown,
    "session.resume": _resume,
    "session.idle": _idle,
    "assistant.idle": _idle,
    "session.background_tasks_changed": _tasks_changed,
    "abort": _abort,
    "session.model_change": _model_change,
    "model.call_start": _call_start,
    "model.call_failure": _call_failure,
    "model.call_finished": _call_finished,
    "assistant.turn_retry": _turn_retry,
    "assistant.message_delta": _delta,
    "assistant.tool_call_delta": _delta,
    "assistant.reasoning_delta": _delta,
    "permission.requested": _asked,
    "user_input.requested": _asked,
    "elicitation.requested": _asked,
    "exit_plan_mode.requested": _asked,
    "permission.completed": _answered,
    "user_input.completed": _answered,
    "elicitation.completed": _answered,
    "exit_plan_mode.completed": _answered,
}
