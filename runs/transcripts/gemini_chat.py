"""Gemini CLI's session files: ``chats/session-….jsonl``, and one a sub-agent beneath it.

A message is written when it is there, and again, under the same id, when its tools have run.
The root's file tells of a sub-agent only then: its id, its state and the reason of its end.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from fakes.targeting import TASK_PATTERN
from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._steady import Order
from runs.transcripts._values import (
    TERMINAL,
    first_text,
    items,
    length,
    mapping,
    moment,
    status,
    text,
)

SPAWN = "invoke_agent"
GOAL = "GOAL"
_REASONS = {"GOAL": "completed", "ABORTED": "cancelled"}
"""By the reason of an end; every other one is a failure."""
_TOLD = re.compile(r"Subagent '[^'\n]{1,200}' (finished|failed)\b")
_REASON = re.compile(r"^Termination Reason: ([A-Z_]{1,60})$", re.M)


class GeminiChat(Lines):
    """One file: the root's, or a sub-agent's."""

    envelope = frozenset({"id", "sessionId", "$set"})
    order = Order(strict=False)

    def __init__(self, file: str) -> None:
        super().__init__(file, "session")
        self.facts["agent"] = "gemini"
        self.agent = ROOT
        self._said: set[str] = set()
        self._ran: set[str] = set()

    def record(self, record: Mapping[str, Any]) -> None:
        """The header, a message, or a change of what stands before."""
        self.native = text(record.get("type"), 40) or ("header" if "kind" in record else "change")
        self.at = moment(record.get("timestamp"))
        if self.native == "header":
            self._header(record)
        elif self.native == "user":
            self._user(record)
        elif self.native == "gemini":
            self._model(record)
        else:
            self.other(self.native, agent=self.agent)

    def prompted(self, prompt: str) -> None:
        """The first words to a sub-agent: the task of the call that started it."""

    def _header(self, record: Mapping[str, Any]) -> None:
        self.at = moment(record.get("startTime"))
        session = text(record.get("sessionId"))
        if record.get("kind") == "subagent":
            self.agent = session
            self.add(Kind.AGENT_STARTED, session, parent="", background=False)
            return
        self.facts["session"] = session
        self.add(Kind.SESSION_STARTED, ROOT, session=session)

    def _user(self, record: Mapping[str, Any]) -> None:
        content = record.get("content")
        if any("functionResponse" in mapping(part) for part in items(content)):
            self.other("tool output", agent=self.agent)  # its own call has it as well
            return
        if self.agent != ROOT and not self._said:
            self.prompted(first_text(content))
        self._said.add(text(record.get("id"), 80))
        self.add(Kind.USER_MESSAGE, self.agent, text_length=length(content))

    def _model(self, record: Mapping[str, Any]) -> None:
        own = text(record.get("id"), 80)
        calls = [mapping(one) for one in items(record.get("toolCalls"))]
        if own not in self._said:
            self._said.add(own)
            self.add(
                Kind.AGENT_MESSAGE,
                self.agent,
                text_length=length(record.get("content")),
                model=text(record.get("model")) or None,
                tool_calls=len(calls) or None,
            )
        for call in calls:
            if text(call.get("id")) not in self._ran:
                self._call(call)

    def _call(self, call: Mapping[str, Any]) -> None:
        own, tool = text(call.get("id")), text(call.get("name"))
        word = text(call.get("status"), 40)
        ended = status(word) in TERMINAL
        if ended:
            self._ran.add(own)
        self.add(Kind.TOOL_STARTED, self.agent, call=own, tool=tool)
        if tool == SPAWN:
            self._asked(own, mapping(call.get("args")))
        if not ended:
            return
        self.at = moment(call.get("timestamp")) or self.at
        ok = status(word) == "completed"
        self.add(Kind.TOOL_ENDED, self.agent, call=own, tool=tool, ok=ok)
        if tool == SPAWN:
            self._answered(own, call, word)

    def _asked(self, own: str, given: Mapping[str, Any]) -> None:
        marker = TASK_PATTERN.search(text(given.get("prompt"), 4000))
        self.add(
            Kind.SPAWN_REQUESTED,
            self.agent,
            call=own,
            role=text(given.get("agent_name")),
            background=False,
            prompt_length=length(given.get("prompt")),
            task=marker[1] if marker else None,
        )

    def _answered(self, own: str, call: Mapping[str, Any], word: str) -> None:
        child, display = text(call.get("agentId")), mapping(call.get("resultDisplay"))
        ok = bool(child) or status(word) == "completed"
        self.add(
            Kind.SPAWN_ANSWERED,
            self.agent,
            call=own,
            ok=ok,
            child=child,
            refusal=None if ok else "error",
            background=False,
        )
        if child:
            self._ended(child, own, display)
            self._told(child, own, call)

    def _ended(self, child: str, own: str, display: Mapping[str, Any]) -> None:
        state, reason = text(display.get("state"), 40), text(display.get("terminateReason"), 60)
        ours = _REASONS.get(reason, "failed") if reason else status(state)
        if ours not in TERMINAL:
            return
        size = length(display.get("result"))
        self.add(
            Kind.AGENT_ENDED,
            child,
            status=ours,
            raw=f"{state} {reason}".strip(),
            call=own,
            text_length=size if reason else None,
            has_result=size > 0 if reason == GOAL else None,
        )

    def _told(self, child: str, own: str, call: Mapping[str, Any]) -> None:
        """What the parent's model gets: a text of a fixed form with one of two words, or an error.

        A text that says ``finished`` names the reason of the end as well.
        """
        answer: Mapping[str, Any] = {}
        for part in items(call.get("result")):
            answer = mapping(mapping(mapping(part).get("functionResponse")).get("response"))
        said = first_text(answer.get("output") or answer.get("error"))
        form, reason = _TOLD.match(said), _REASON.search(said[:1000])
        raw = reason[1] if reason else form[1] if form else "error" if "error" in answer else ""
        if reason:
            ours = _REASONS.get(reason[1], "failed")
        else:
            ours = {"finished": "completed", "": "unknown"}.get(raw, "failed")
        done = ours == "completed"
        self.add(
            Kind.NOTICE_DELIVERED,
            self.agent,
            child=child,
            status=ours,
            raw=raw,
            call=own,
            form="tool_result",
            has_result=bool(said) if done else None,
            text_length=len(said) if done else None,
            error_passed=None if done else bool(said),
        )


class GeminiChatFormat(Format):
    """The stored view."""

    name = "gemini-chat-jsonl"
    title = "Gemini CLI session"
    source = "session"
    agent = "gemini"

    def sniff(self, head: bytes, name: str) -> float:
        """By its header."""
        header = {"sessionId", "projectHash", "startTime", "kind"}
        return 0.95 if any(header <= one.keys() for one in records(head)) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one file."""
        return GeminiChat(file)


READER = GeminiChatFormat()
