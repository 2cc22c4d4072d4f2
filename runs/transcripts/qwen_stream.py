"""Qwen Code's standard output: ``--output-format stream-json``.

A sub-agent in the background has a start and an end of its own here; one in the foreground
is only the answer of its call. More than one ``result`` may come: the last one counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._qwen import SPAWN_TOOLS, STOP_TOOL, called
from runs.transcripts._sniff import records
from runs.transcripts._values import TERMINAL, items, length, mapping, marker, status, text


class Stream(Lines):
    """One program's output. It has no times."""

    def __init__(self, file: str) -> None:
        super().__init__(file, "stdout")
        self.facts["agent"] = "qwen"
        self._agents: dict[str, str] = {"": ROOT}
        """By the call that a record belongs to (``parent_tool_use_id``)."""
        self._tools: dict[str, str] = {}
        self._roles: dict[str, str] = {}

    def identity(self, record: Mapping[str, Any]) -> str:
        """Records are numbered by their own ids; an answer in pieces repeats its message's."""
        return "" if record.get("type") == "stream_event" else text(record.get("uuid"))

    def record(self, record: Mapping[str, Any]) -> None:
        """One line."""
        kind, sub = text(record.get("type"), 40), text(record.get("subtype"), 40)
        self.native = f"{kind}/{sub}" if kind == "system" else kind
        agent = self._agents.get(text(record.get("parent_tool_use_id")), ROOT)
        handler = _HANDLERS.get(self.native)
        if handler is None:
            self.other(self.native, agent=agent)
        else:
            handler(self, record, agent)

    def _init(self, record: Mapping[str, Any], agent: str) -> None:
        version = text(record.get("qwen_code_version"), 64)
        self.facts.update(version=version, session=text(record.get("session_id")))
        self.add(
            Kind.SESSION_STARTED,
            ROOT,
            version=version,
            session=self.facts["session"],
            model=text(record.get("model")) or None,
            cwd=text(record.get("cwd"), 400),
        )

    def _task_started(self, record: Mapping[str, Any], agent: str) -> None:
        data = mapping(record.get("data"))
        child, call = text(data.get("task_id")), text(data.get("tool_use_id"))
        self._agents[call] = child
        self.add(
            Kind.AGENT_STARTED,
            child,
            parent=agent,
            call=call,
            name=text(data.get("description"), 80),
            role=text(data.get("subagent_type"), 80),
            background=True,
        )

    def _task_ended(self, record: Mapping[str, Any], agent: str) -> None:
        data = mapping(record.get("data"))
        raw = text(data.get("status"), 40)
        if status(raw) not in TERMINAL:
            self.other(self.native, raw, text(data.get("task_id")))
            return
        self.add(Kind.AGENT_ENDED, text(data.get("task_id")), status=status(raw), raw=raw)

    def _retry(self, record: Mapping[str, Any], agent: str) -> None:
        data = mapping(record.get("data"))
        self.add(Kind.MODEL_RETRY, agent, reason=text(data.get("reason"), 80), delay=None)

    def _said(self, record: Mapping[str, Any], agent: str) -> None:
        message = mapping(record.get("message"))
        blocks = [mapping(block) for block in items(message.get("content"))]
        calls = [block for block in blocks if block.get("type") == "tool_use"]
        size = sum(length(block) for block in blocks if block.get("type") == "text")
        self.add(
            Kind.AGENT_MESSAGE,
            agent,
            text_length=size,
            final=not calls,
            finish=text(message.get("stop_reason"), 40) or None,
            tool_calls=len(calls),
            model=text(message.get("model")) or None,
        )
        for block in calls:
            self._called(block, agent)

    def _called(self, block: Mapping[str, Any], agent: str) -> None:
        call = text(block.get("id"))
        tool, given = called(block.get("name"), block.get("input"))
        self._tools[call] = tool
        self.add(Kind.TOOL_STARTED, agent, call=call, tool=tool)
        if tool == STOP_TOOL:
            child = text(given.get("task_id"))
            self.add(Kind.CANCEL_REQUESTED, agent, target=child, by="parent", raw=tool)
        elif tool in SPAWN_TOOLS:
            self._roles[call] = text(given.get("subagent_type"), 80) or "general-purpose"
            self.add(
                Kind.SPAWN_REQUESTED,
                agent,
                call=call,
                name=text(given.get("description"), 80),
                role=text(given.get("subagent_type"), 80),
                prompt_length=length(given.get("prompt")),
                task=marker(given.get("prompt")) or None,
            )

    def _heard(self, record: Mapping[str, Any], agent: str) -> None:
        for block in map(mapping, items(mapping(record.get("message")).get("content"))):
            if block.get("type") == "tool_result":
                self._answered(block, agent)
            elif block.get("type") == "text":
                self.other("user", text(block.get("text"), 200), agent)

    def _answered(self, block: Mapping[str, Any], agent: str) -> None:
        call, failed = text(block.get("tool_use_id")), block.get("is_error") is True
        tool = self._tools.get(call, "")
        size = length(block.get("content"))
        self.add(Kind.TOOL_ENDED, agent, call=call, tool=tool, ok=not failed, text_length=size)
        if tool in SPAWN_TOOLS:
            child = self._agents.get(call, "")
            given = {"child": child, "background": True} if child else {"background": False}
            self.add(Kind.SPAWN_ANSWERED, agent, call=call, ok=not failed, **given)
            if not child:
                # All that this view says of the end of one in the foreground.
                child = f"{self._roles.get(call, '')}-{call}"
                word = "failed" if failed else "completed"
                raw = f"is_error: {str(failed).lower()}"
                self.add(Kind.AGENT_ENDED, child, status=word, raw=raw, call=call, text_length=size)

    def _piece(self, record: Mapping[str, Any], agent: str) -> None:
        event = mapping(record.get("event"))
        delta = mapping(event.get("delta"))
        what = {"text_delta": "text", "thinking_delta": "thought"}.get(text(delta.get("type"), 40))
        if what is None:
            self.other(f"stream/{text(event.get('type'), 60)}", agent=agent)
            return
        size = length(delta.get("text") or delta.get("thinking"))
        self.add(Kind.DELTA, agent, text_length=size, what=what)

    def _result(self, record: Mapping[str, Any], agent: str) -> None:
        raw = text(record.get("subtype"), 40)
        self.add(
            Kind.RESULT,
            ROOT,
            status=status(raw),
            is_error=record.get("is_error") is True,
            text_length=length(record.get("result")),
        )


_HANDLERS = {
    "system/init": Stream._init,
    "system/task_started": Stream._task_started,
    "system/task_notification": Stream._task_ended,
    "system/retry": Stream._retry,
    "assistant": Stream._said,
    "user": Stream._heard,
    "stream_event": Stream._piece,
    "result": Stream._result,
}


class QwenStream(Format):
    """What the program printed."""

    name = "qwen-stream-json"
    title = "Qwen Code standard output (stream-json)"
    source = "stdout"
    agent = "qwen"
    clock = "none"

    def sniff(self, head: bytes, name: str) -> float:
        """By its first record, which names the program's version."""
        return 1.0 if any("qwen_code_version" in one for one in records(head)[:3]) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one program's output."""
        return Stream(file)


READER = QwenStream()
