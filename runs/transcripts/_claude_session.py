"""Claude Code's session file, and the same shape of a sub-agent's own file.

``projects/SLUG/SESSION.jsonl`` is the root's; ``SESSION/subagents/agent-ID.jsonl``
a sub-agent's. Up to about 2.1.1 a sub-agent's lines stood in the root's file,
marked as side chain, without an id: they are given the id of their call.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._claude import Claude
from runs.transcripts._claude_notice import notices
from runs.transcripts._sniff import records
from runs.transcripts._steady import Order
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

_MODEL = re.compile(
    r"\s*<command-name>/model</command-name>(?:.*?<command-args>\s*([^<]{0,200}?)\s*</command-args>)?",
    re.S,
)
"""A person's command to change the model."""


class ClaudeSession(Claude):
    """One transcript file."""

    order = Order(strict=False, loose=frozenset({"attachment"}))

    def __init__(self, file: str) -> None:
        super().__init__(file, "session")
        self._begun: set[str] = set()
        self._chains: dict[str, str] = {}
        self._prompts: dict[str, list[str]] = {}
        """Calls by their prompt: two may have the same one."""
        self._opened = False

    def identity(self, record: Mapping[str, Any]) -> str:
        """Messages have a uuid; bookkeeping records have none."""
        return text(record.get("uuid"), 80)

    def record(self, record: Mapping[str, Any]) -> None:
        """One record."""
        self.at = moment(record.get("timestamp"))
        self.native_id = text(record.get("uuid"), 80)
        agent = self._whose(record)
        if not self._opened and record.get("version"):
            self._open(record, agent)
        handler = (
            None
            if not agent
            else {
                "user": self._user,
                "assistant": self._assistant,
                "queue-operation": self._queue,
                "attachment": self._attachment,
                "system": self._system,
                "api-request": self._request,
            }.get(self.native)
        )
        if handler is None:
            self.other(self.native, agent=agent)
        else:
            handler(record, agent)

    def _open(self, record: Mapping[str, Any], agent: str) -> None:
        """The first record that says where it comes from begins the session."""
        self._opened = True
        if record.get("parentUuid") and "uuid" in record:
            self.damage("missing-start", repaired=False, detail="the log begins in mid-session")
        version, session = text(record.get("version")), text(record.get("sessionId"))
        self.facts.update(version=version, session=session)
        if agent == ROOT:
            self.add(
                Kind.SESSION_STARTED,
                ROOT,
                version=version,
                session=session,
                cwd=text(record.get("cwd"), 400),
            )

    def _whose(self, record: Mapping[str, Any]) -> str:
        own = text(record.get("agentId"))
        if own:
            return own
        if record.get("isSidechain") is not True:
            return ROOT
        parent = text(record.get("parentUuid"), 80)
        known = self._chains.get(parent)
        if known is None:
            prompt = first_text(mapping(record.get("message")).get("content"))
            waiting = self._prompts.get(prompt)
            known = waiting.pop(0) if waiting else "" if parent else f"side-{self.native_id}"
            if not known:
                detail = "its parent is not in the log: nobody can say whose it is"
                self.damage("broken-parent", repaired=False, detail=detail, lost="whose it is")
        if len(self._chains) < 500_000:
            self._chains[self.native_id] = known
        return known

    def _begin(self, agent: str) -> None:
        if agent == ROOT or agent in self._begun:
            return
        self._begun.add(agent)
        call = agent if agent in self.calls else None
        # A file of its own does not say who spawned it: the call's answer does.
        parent = self.calls[agent].agent if call else ROOT if self._chains else None
        self.add(Kind.AGENT_STARTED, agent, parent=parent, call=call)
        if call:
            self.by_call[agent] = agent

    def _user(self, record: Mapping[str, Any], agent: str) -> None:
        self._begin(agent)
        content = mapping(record.get("message")).get("content")
        result = record.get("toolUseResult")
        if self.tool_results(record, agent, result) or self.interruption(record, agent):
            return
        found = notices(content)
        if found:
            run = text(mapping(record.get("origin")).get("runId")) or None
            for notice in found:
                self.deliver(notice, agent, "notification", run if len(found) == 1 else None)
        elif (chosen := _MODEL.match(first_text(content))) is not None:
            self.add(Kind.MODEL_CHANGED, agent, to=chosen[1] or None, by="user")
        elif record.get("isMeta") is True or record.get("isCompactSummary") is True:
            self.other("user", summary="meta", agent=agent)
        else:
            self.add(Kind.USER_MESSAGE, agent, text_length=length(content))

    def _assistant(self, record: Mapping[str, Any], agent: str) -> None:
        self._begin(agent)
        self.assistant(record, agent)
        for block in items(mapping(record.get("message")).get("content")):
            prompt = mapping(mapping(block).get("input")).get("prompt")
            if isinstance(prompt, str) and len(self._prompts) < 10_000:
                self._prompts.setdefault(prompt, []).append(text(mapping(block).get("id")))

    def _queue(self, record: Mapping[str, Any], agent: str) -> None:
        """A notice that is put in the queue is the runtime's word that the run ended.

        One that is put in again while it waits there is no other end.
        """
        operation = text(record.get("operation"), 40)
        found = [
            notice
            for notice in (notices(record.get("content")) if operation == "enqueue" else [])
            if not self.is_shell(notice)
        ]
        if not found:
            self.other("queue-operation", summary=operation, agent=agent)
        for notice in found:
            key = (notice.task, notice.run or "")
            if notice.status in TERMINAL and key not in self.queued:
                self.end_run(
                    notice.task, notice.status, notice.raw, notice.run, call=notice.call,
                    text_length=notice.text_length, duration=notice.duration,
                )  # fmt: skip
                self.queued.add(key)
            self.add(
                Kind.NOTICE_QUEUED,
                agent,
                child=notice.task,
                status=notice.status,
                raw=notice.raw,
                call=notice.call,
                run=notice.run,
            )

    def _attachment(self, record: Mapping[str, Any], agent: str) -> None:
        """A queued notice that was put into a running turn is delivered as an attachment; a hook
        that ran because the session was loaded again leaves one too."""
        attachment = mapping(record.get("attachment"))
        kind = text(attachment.get("type"), 80)
        if attachment.get("hookName") == "SessionStart:resume" and agent == ROOT:
            self.add(Kind.SESSION_RESUMED, agent, session=text(record.get("sessionId")))
            return
        if kind == "task_status" and "agent" in text(attachment.get("taskType")):
            self._stands(attachment, agent)
            return
        found = notices(attachment.get("prompt")) if kind == "queued_command" else []
        if not found:
            self.other("attachment", summary=kind, agent=agent)
        for notice in found:
            self.deliver(notice, agent, "notification")

    def _stands(self, attachment: Mapping[str, Any], agent: str) -> None:
        """How a task stands, told once more where a compaction may have lost what was said."""
        raw, said = text(attachment.get("status"), 40), attachment.get("deltaSummary")
        self.add(
            Kind.NOTICE_DELIVERED, agent, child=text(attachment.get("taskId")), status=status(raw),
            raw=raw, form="poll", text_length=length(said) or None,
        )  # fmt: skip

    def _system(self, record: Mapping[str, Any], agent: str) -> None:
        chosen = _MODEL.match(first_text(record.get("content")))
        if chosen is not None:
            self.add(Kind.MODEL_CHANGED, agent, to=chosen[1] or None, by="user")
            return
        if record.get("subtype") != "api_error":
            self.other("system", summary=text(record.get("subtype"), 80), agent=agent)
            return
        error = mapping(record.get("error"))
        code = integer(error.get("status"))
        self.add(
            Kind.MODEL_RETRY,
            agent,
            attempt=integer(record.get("retryAttempt")),
            of=integer(record.get("maxRetries")),
            delay=seconds(record.get("retryInMs")),
            reason=error_class(error.get("type") or "stream", code),
            http_status=code,
        )

    def _request(self, record: Mapping[str, Any], agent: str) -> None:
        model = mapping(record.get("params")).get("model")
        self.add(Kind.MODEL_STARTED, agent, model=text(model), call=text(record.get("id")))


def is_transcript(record: Mapping[str, Any]) -> bool:
    """Whether a record is of a transcript file (and not of stream-json, or of hooks)."""
    return "sessionId" in record and (
        {"isSidechain", "uuid", "message"} <= record.keys()
        or record.get("type") == "queue-operation"
    )


def sureness(head: bytes, of_child: bool) -> float:
    """How sure that these are records of the root's file, or of a sub-agent's."""
    mine = [one for one in records(head) if is_transcript(one)]
    if not mine:
        return 0.0
    theirs = sum(1 for one in mine if one.get("agentId")) * 2 > len(mine)
    return 0.95 if theirs == of_child else 0.3
