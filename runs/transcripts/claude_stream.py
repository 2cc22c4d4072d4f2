"""Claude Code's stream-json (``claude -p --output-format stream-json --verbose``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._claude import Claude
from runs.transcripts._claude_asks import control, controlled, denied
from runs.transcripts._claude_notice import Notice, notices
from runs.transcripts._sniff import records
from runs.transcripts._values import (
    TERMINAL,
    error_class,
    first_text,
    integer,
    items,
    length,
    mapping,
    moment,
    seconds,
    status,
    text,
)


class ClaudeStream(Claude):
    """One run's output. Records have no times of their own in most versions."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "stdout")
        self._opened = False
        self._foreground: dict[str, bool] = {}
        self._shells: set[str] = set()

    def identity(self, record: Mapping[str, Any]) -> str:
        """The uuid, which the session file has as well."""
        return text(record.get("uuid"), 80)

    def record(self, record: Mapping[str, Any]) -> None:
        """One record."""
        self.at = moment(record.get("timestamp"))
        self.native_id = text(record.get("uuid"), 80)
        agent = self._whose(record)
        if self.native == "system":
            word = text(record.get("subtype"), 80)
            self.native = f"system/{word}"
            handler = _SYSTEM.get(word)
        else:
            handler = _HANDLERS.get(self.native)
        if handler is None:
            self.other(self.native, agent=agent)
        else:
            handler(self, record, agent)

    def _whose(self, record: Mapping[str, Any]) -> str:
        call = text(record.get("parent_tool_use_id"))
        if not call:
            return ROOT
        return text(record.get("agent_id")) or self.by_call.get(call, call)

    def _init(self, record: Mapping[str, Any], agent: str) -> None:
        if self._opened:  # Written again before each turn.
            self.other(self.native, agent=agent)
            return
        self._opened = True
        version = text(record.get("claude_code_version"))
        session, model = text(record.get("session_id")), text(record.get("model"))
        self.facts.update(version=version, session=session, model=model)
        self.add(
            Kind.SESSION_STARTED,
            ROOT,
            version=version,
            model=model,
            session=session,
            cwd=text(record.get("cwd"), 400),
        )

    def _user(self, record: Mapping[str, Any], agent: str) -> None:
        result = mapping(record.get("tool_use_result"))
        if result.get("isAsync") is True:  # A call that waited may hand out its child.
            self._foreground[text(result.get("agentId"))] = False
        if self.tool_results(record, agent, record.get("tool_use_result")):
            return
        if self.interruption(record, agent):
            return
        content = mapping(record.get("message")).get("content")
        found = notices(content)
        for notice in found:
            self.deliver(notice, agent, "notification")
        if not found:
            self.add(Kind.USER_MESSAGE, agent, text_length=length(content))

    def _message(self, record: Mapping[str, Any], agent: str) -> None:
        self.assistant(record, agent)

    def _task_started(self, record: Mapping[str, Any], agent: str) -> None:
        task, call = text(record.get("task_id")), text(record.get("tool_use_id"))
        kind = text(record.get("task_type"), 80)
        if kind and "agent" not in kind and "teammate" not in kind:
            self._shells.add(task)
            self.other(self.native, summary=kind, agent=agent)
            return
        asked = self.calls.get(call)
        background = record.get("is_backgrounded")
        if not isinstance(background, bool):
            background = asked.background if asked else None
        self._foreground[task] = background is False
        self.by_call[call] = task
        run = text(record.get("run_id")) or None
        if run is None and self.has_ended(task, ""):
            self.resume(task, agent, call, reason="started again")
        self.add(
            Kind.AGENT_STARTED,
            task,
            parent=asked.agent if asked else ROOT,
            name=text(record.get("description")),
            role=text(record.get("subagent_type")),
            background=background,
            call=call,
            depth=integer(record.get("spawn_depth")),
            run=run,
        )

    def _task_updated(self, record: Mapping[str, Any], agent: str) -> None:
        task, run = text(record.get("task_id")), text(record.get("run_id")) or None
        patch = mapping(record.get("patch"))
        if self.at is None:
            self.at = moment(patch.get("end_time"))
        if patch.get("is_backgrounded") is True:
            self._foreground[task] = False
        raw = text(patch.get("status"), 40)
        ours = status(raw)
        if task in self._shells or ours not in TERMINAL or self.has_ended(task, run or ""):
            self.other(self.native, summary=raw, agent=task)
        else:
            self.end_run(task, ours, raw, run, detail=text(patch.get("error"), 300))

    def _notification(self, record: Mapping[str, Any], agent: str) -> None:
        task, run = text(record.get("task_id")), text(record.get("run_id")) or None
        raw = text(record.get("status"), 40)
        if task in self._shells:
            self.other(self.native, summary=raw, agent=agent)
            return
        said = first_text(record.get("summary"))
        if self.has_ended(task, run or "") or status(raw) not in TERMINAL:
            # The end was written just before; this is the word about it.
            self.queued.add((task, run or ""))
        if self._foreground.get(task):
            self.queued.discard((task, run or ""))
            if not self.has_ended(task, run or "") and status(raw) in TERMINAL:
                self.end_run(task, status(raw), raw, run)
            else:
                self.other(self.native, summary=raw, agent=task)
            return
        notice = Notice(
            task, text(record.get("tool_use_id")), status(raw), raw, len(said), run,
            seconds(mapping(record.get("usage")).get("duration_ms")),
        )  # fmt: skip
        self.deliver(notice, agent, "notification", run)

    def _tasks_changed(self, record: Mapping[str, Any], agent: str) -> None:
        tasks = [mapping(one) for one in items(record.get("tasks"))]
        agents = [one for one in tasks if "agent" in text(one.get("task_type") or "agent")]
        self.add(
            Kind.REGISTRY,
            ROOT,
            open=[text(one.get("task_id")) for one in agents],
            shells=len(tasks) - len(agents),
            what="background_tasks_changed",
        )

    def _progress(self, record: Mapping[str, Any], agent: str) -> None:
        retry = mapping(record.get("subagent_retry"))
        if not retry:
            self.other(self.native, agent=agent)
            return
        self._retry(retry, text(retry.get("agent_id")) or agent, "error_category")

    def _api_retry(self, record: Mapping[str, Any], agent: str) -> None:
        self._retry(record, agent, "error")

    def _retry(self, retry: Mapping[str, Any], agent: str, word: str) -> None:
        code = integer(retry.get("error_status"))
        self.add(
            Kind.MODEL_RETRY,
            agent,
            attempt=integer(retry.get("attempt")),
            of=integer(retry.get("max_retries")),
            delay=seconds(retry.get("retry_delay_ms")),
            reason=error_class(retry.get(word) or "stream", code),
            http_status=code,
        )

    def _result(self, record: Mapping[str, Any], agent: str) -> None:
        stats = mapping(record.get("subagent_stats"))
        is_error = record.get("is_error")
        self.add(
            Kind.RESULT,
            ROOT,
            status=text(record.get("subtype"), 80),
            is_error=is_error if isinstance(is_error, bool) else None,
            text_length=length(record.get("result")),
            killed=integer(stats.get("killed")),
            failed=integer(stats.get("failed")),
            completed=integer(stats.get("completed")),
        )

    def _stream_event(self, record: Mapping[str, Any], agent: str) -> None:
        delta = mapping(mapping(record.get("event")).get("delta"))
        found = next((key for key in ("text", "thinking", "partial_json") if key in delta), "")
        if not found:
            self.other(self.native, agent=agent)
            return
        what = "tool" if found == "partial_json" else "text"
        self.add(Kind.DELTA, agent, text_length=length(delta.get(found)), what=what)


_SYSTEM = {
    "init": ClaudeStream._init,
    "task_started": ClaudeStream._task_started,
    "task_updated": ClaudeStream._task_updated,
    "task_notification": ClaudeStream._notification,
    "background_tasks_changed": ClaudeStream._tasks_changed,
    "api_retry": ClaudeStream._api_retry,
    "permission_denied": denied,
}
_HANDLERS = {
    "assistant": ClaudeStream._message,
    "user": ClaudeStream._user,
    "tool_progress": ClaudeStream._progress,
    "result": ClaudeStream._result,
    "stream_event": ClaudeStream._stream_event,
    "control_request": control,
    "control_response": controlled,
}


class ClaudeStreamFormat(Format):
    """Standard output of a headless run; other agents write much the same."""

    name = "claude-stream-json"
    title = "Claude Code stream-json"
    source = "stdout"
    agent = "claude"
    clock = "none"

    def sniff(self, head: bytes, name: str) -> float:
        """By session_id and the types system, assistant, user and result."""
        found = [one for one in records(head) if "session_id" in one]
        shaped = [
            one
            for one in found
            if one.get("type") in ("system", "assistant", "user", "result", "stream_event",
                                   "tool_progress", "control_request")
            and "hook_event_name" not in one
        ]  # fmt: skip
        if not shaped or len(shaped) * 2 < len(found):
            return 0.0
        init = [one for one in shaped if one.get("subtype") == "init"]
        if any("qwen_code_version" in one for one in init):
            return 0.3
        return 0.9 if init or any("parent_tool_use_id" in one for one in shaped) else 0.6

    def reader(self, file: str) -> Reader:
        """A reader of one run's output."""
        return ClaudeStream(file)


READER = ClaudeStreamFormat()
