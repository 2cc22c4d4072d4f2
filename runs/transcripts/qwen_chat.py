"""Qwen Code's records of a conversation: its own (``chats/``) and each sub-agent's.

What was sent to a provider stands in the main file alone, with the sub-agent's id.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._qwen import MESSAGE_TOOL, SPAWN_TOOLS, STOP_TOOL, called, notifications
from runs.transcripts._sniff import records
from runs.transcripts._steady import Order
from runs.transcripts._values import (
    error_class,
    integer,
    items,
    length,
    mapping,
    marker,
    moment,
    seconds,
    status,
    text,
)


class Chat(Lines):
    """One file: one conversation."""

    order = Order(strict=False)

    def __init__(self, file: str) -> None:
        super().__init__(file, "session")
        self.facts["agent"] = "qwen"
        self._begun = False
        self._roles: dict[str, str] = {}
        self._told: set[str] = set()
        """Sub-agents of whose end it was told: more work is another run of theirs."""

    def identity(self, record: Mapping[str, Any]) -> str:
        """Records have ids."""
        return text(record.get("uuid"))

    def record(self, record: Mapping[str, Any]) -> None:
        """One record."""
        kind, sub = text(record.get("type"), 40), text(record.get("subtype"), 40)
        self.native = f"{kind}/{sub}" if sub else kind
        self.at = moment(record.get("timestamp"))
        agent = text(record.get("agentId")) or ROOT
        if not self._begun:
            self._begun = True
            self._begin(record, agent)
        handler = _HANDLERS.get(kind)
        if handler is None:
            self.other(self.native, agent=agent)
        else:
            handler(self, record, agent)

    def _begin(self, record: Mapping[str, Any], agent: str) -> None:
        version, session = text(record.get("version"), 64), text(record.get("sessionId"))
        self.facts.update(version=version, session=session)
        if agent == ROOT:
            self.add(Kind.SESSION_STARTED, ROOT, version=version, session=session)
            return
        role = text(record.get("agentName"), 80)
        call = agent.removeprefix(f"{role}-")
        # Who asked for it is not in its own file: the call says it.
        self.add(Kind.AGENT_STARTED, agent, parent="", role=role, call=call, ends_elsewhere=True)

    def _heard(self, record: Mapping[str, Any], agent: str) -> None:
        parts = [mapping(part) for part in items(mapping(record.get("message")).get("parts"))]
        words = [part["text"] for part in parts if isinstance(part.get("text"), str)]
        found = [notice for part in words for notice in notifications(part)]
        for notice in found:
            self._told.add(notice["child"])
            self.add(Kind.NOTICE_DELIVERED, agent, **notice)
        if found:
            return
        if record.get("provenance") in ("real_user", None):
            self.add(Kind.USER_MESSAGE, agent, text_length=sum(map(len, words)))
        else:
            self.other(self.native, text(words[0]) if words else "", agent)

    def _said(self, record: Mapping[str, Any], agent: str) -> None:
        parts = [mapping(part) for part in items(mapping(record.get("message")).get("parts"))]
        calls = [mapping(part["functionCall"]) for part in parts if "functionCall" in part]
        size = sum(length(part.get("text")) for part in parts if not part.get("thought"))
        self.add(
            Kind.AGENT_MESSAGE,
            agent,
            text_length=size,
            final=not calls and size > 0,
            tool_calls=len(calls),
            model=text(record.get("model")) or None,
        )
        for call in calls:
            self._called(call, agent)

    def _called(self, function: Mapping[str, Any], agent: str) -> None:
        call = text(function.get("id"))
        tool, given = called(function.get("name"), function.get("args"))
        child = text(given.get("task_id"))
        self.add(Kind.TOOL_STARTED, agent, call=call, tool=tool)
        if tool == STOP_TOOL:
            self.add(Kind.CANCEL_REQUESTED, agent, target=child, by="parent", raw=tool)
        elif tool == MESSAGE_TOOL and child in self._told:
            self._told.discard(child)
            self.add(Kind.AGENT_RESUMED, child, by=agent, call=call, reason="message")
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

    def _answered(self, record: Mapping[str, Any], agent: str) -> None:
        done = mapping(record.get("toolCallResult"))
        parts = [mapping(part) for part in items(mapping(record.get("message")).get("parts"))]
        for answer in (mapping(part.get("functionResponse")) for part in parts):
            call, tool = text(answer.get("id")), text(answer.get("name"), 80)
            response = mapping(answer.get("response"))
            ok = "error" not in response and status(done.get("status")) != "failed"
            size = length(response.get("output") or response.get("error"))
            self.add(Kind.TOOL_ENDED, agent, call=call, tool=tool, ok=ok, text_length=size)
            if tool in SPAWN_TOOLS:
                self._spawned(mapping(done.get("resultDisplay")), agent, call, ok, size)

    def _spawned(
        self, shown: Mapping[str, Any], agent: str, call: str, ok: bool, size: int
    ) -> None:
        """The call's answer; that of a sub-agent in the foreground says how it ended.

        A sub-agent's own file does not say how, and all that it starts are in the foreground.
        """
        if not ok:
            self.add(Kind.SPAWN_ANSWERED, agent, call=call, ok=False, refusal="error")
            return
        role = text(shown.get("subagentName"), 80) or self._roles.get(call, "")
        child, raw = f"{role}-{call}", text(shown.get("status"), 40)
        waits = agent != ROOT or shown.get("executionMode") == "foreground"
        self.add(Kind.SPAWN_ANSWERED, agent, call=call, ok=True, child=child, background=not waits)
        if waits:
            self.add(
                Kind.NOTICE_DELIVERED, agent, child=child, call=call, status=status(raw), raw=raw,
                form="tool_result", has_result=size > 0, text_length=size,
            )  # fmt: skip

    def _system(self, record: Mapping[str, Any], agent: str) -> None:
        event = mapping(mapping(record.get("systemPayload")).get("uiEvent"))
        name = text(event.get("event.name"), 80).removeprefix("qwen-code.")
        who = text(event.get("subagent_id")) or agent
        code = integer(event.get("status_code"))
        took = seconds(event.get("duration_ms"))
        if name == "api_response":
            # It is written for every stream that came to an end, also to an early one.
            self.add(Kind.MODEL_ENDED, who, ok=None, http_status=code, duration=took)
        elif name == "api_error":
            kind = error_class(event.get("error_type"), code)
            self.add(
                Kind.MODEL_ENDED, who, ok=False, http_status=code, error_class=kind, duration=took
            )
        else:
            self.other(f"system/{name}" if name else self.native, agent=who)


_HANDLERS = {
    "user": Chat._heard,
    "assistant": Chat._said,
    "tool_result": Chat._answered,
    "system": Chat._system,
}


class QwenChat(Format):
    """One conversation."""

    name = "qwen-chat-jsonl"
    title = "Qwen Code conversation"
    source = "session"
    agent = "qwen"

    def sniff(self, head: bytes, name: str) -> float:
        """By the parts of its messages, which no relative of it has."""
        found = records(head)
        mine = [
            one
            for one in found
            if {"uuid", "sessionId"} <= set(one)
            and ("parts" in mapping(one.get("message")) or "systemPayload" in one)
        ]
        return 1.0 if mine and len(mine) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one conversation."""
        return Chat(file)


READER = QwenChat()
