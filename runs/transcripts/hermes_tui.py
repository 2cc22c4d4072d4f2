"""Hermes' tui gateway: JSON-RPC events of one conversation, ``{t, m}`` or the message alone."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._hermes import Delegations, delivered, notices, parsed
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._steady import Order
from runs.transcripts._values import (
    TERMINAL,
    integer,
    length,
    mapping,
    moment,
    number,
    status,
    text,
)

SPAWN_TOOLS = frozenset({"delegate_task"})
RETRY = re.compile(r"\b(?:Retrying in|Waiting) (\d+(?:\.\d+)?)s \(attempt (\d+)/(\d+)\)")
"""An announcement of another try, as it is shown to people."""


class Gateway(Lines):
    """One connection."""

    envelope = frozenset({"jsonrpc"})
    order = Order(jump=900.0, strict=False)

    def __init__(self, file: str) -> None:
        super().__init__(file, "rpc")
        self.facts["agent"] = "hermes"
        self._by_short: dict[str, str] = {"": ROOT}
        self._delegations = Delegations()

    def record(self, record: Mapping[str, Any]) -> None:
        """One message."""
        inner = mapping(record.get("m") or record.get("msg"))
        message = inner or record
        self.at = number(record.get("t"))
        if self.at is None:
            self.at = moment(record.get("timestamp"))
        params = mapping(message.get("params"))
        payload = mapping(params.get("payload"))
        self.native = text(params.get("type") or message.get("method"), 80) or "response"
        handler = _HANDLERS.get(self.native)
        short = text(payload.get("subagent_id"))
        agent = text(payload.get("child_session_id")) or self._by_short.get(short, short) or ROOT
        self._by_short.setdefault(short, agent)
        if handler is None:
            self.other(self.native, agent=agent)
        else:
            handler(self, payload, agent)

    def _child_start(self, payload: Mapping[str, Any], agent: str) -> None:
        parent = self._by_short.get(text(payload.get("parent_id")), ROOT)
        tasks, goal = integer(payload.get("task_count")) or 1, payload.get("goal")
        call = self._delegations.begin(parent, agent, tasks, goal)
        self.add(
            Kind.AGENT_STARTED,
            agent,
            parent=parent,
            name=text(payload.get("goal"), 80),
            model=text(payload.get("model")) or None,
            call=call or None,
        )

    def _child_end(self, payload: Mapping[str, Any], agent: str) -> None:
        raw = text(payload.get("status"), 40)
        ours = status(raw)
        size = length(payload.get("summary") or payload.get("text"))
        if ours not in TERMINAL:
            self.other(self.native, summary=raw, agent=agent)
            return
        self.add(
            Kind.AGENT_ENDED,
            agent,
            status=ours,
            raw=raw,
            text_length=size,
            has_result=size > 0,
            duration=number(payload.get("duration_seconds")),
        )

    def _thinking(self, payload: Mapping[str, Any], agent: str) -> None:
        self.add(Kind.DELTA, agent, text_length=length(payload.get("text")), what="thought")

    def _tool_start(self, payload: Mapping[str, Any], agent: str) -> None:
        call, tool = text(payload.get("tool_id")), text(payload.get("name"))
        self.add(Kind.TOOL_STARTED, agent, call=call, tool=tool)
        if tool in SPAWN_TOOLS:
            for asked in self._delegations.ask(agent, call, mapping(payload.get("args"))):
                self.add(Kind.SPAWN_REQUESTED, agent, **asked)

    def _tool_end(self, payload: Mapping[str, Any], agent: str) -> None:
        call, tool = text(payload.get("tool_id")), text(payload.get("name"))
        self.add(Kind.TOOL_ENDED, agent, call=call, tool=tool)
        if self._delegations.knows(agent, call):
            answer = mapping(parsed(payload.get("result")))
            for kind, data in self._delegations.answer(agent, call, answer):
                self.add(kind, agent, **data)

    def _turn(self, payload: Mapping[str, Any], agent: str) -> None:
        self.add(Kind.TURN_STARTED, agent)

    def _info(self, payload: Mapping[str, Any], agent: str) -> None:
        if payload.get("version") and not self.facts.get("version"):
            self.facts["version"] = text(payload["version"], 64)
            self.add(Kind.RUNTIME, version=self.facts["version"], platform="")

    def _status(self, payload: Mapping[str, Any], agent: str) -> None:
        """A line for people: a retry with its numbers, or a late result that the parent gets."""
        name, results = delivered(payload.get("text"))
        if name:
            for note in notices(name, self._delegations.children(name), results):
                self.native_id, self._added = f"{name}/{note['child']}", 0
                self.add(Kind.NOTICE_DELIVERED, agent, **note)
            return
        shown = text(payload.get("text"), 400)
        found = RETRY.search(shown)
        if found is None:
            self.other(self.native, shown, agent)
            return
        delay, attempt, of = found.groups()
        self.add(Kind.MODEL_RETRY, agent, attempt=int(attempt), of=int(of), delay=float(delay))

    def _delta(self, payload: Mapping[str, Any], agent: str) -> None:
        self.add(Kind.DELTA, agent, text_length=length(payload.get("text")), what="text")

    def _message(self, payload: Mapping[str, Any], agent: str) -> None:
        size = length(payload.get("text"))
        raw = text(payload.get("status"), 40)
        failed = raw in ("error", "failed")
        self.add(Kind.AGENT_MESSAGE, agent, text_length=size, final=True, error=failed)
        self.add(Kind.TURN_ENDED, agent, status=status(raw) if raw else "completed", raw=raw)


_HANDLERS = {
    "subagent.start": Gateway._child_start,
    "subagent.complete": Gateway._child_end,
    "subagent.thinking": Gateway._thinking,
    "tool.start": Gateway._tool_start,
    "tool.complete": Gateway._tool_end,
    "message.start": Gateway._turn,
    "session.info": Gateway._info,
    "status.update": Gateway._status,
    "message.delta": Gateway._delta,
    "message.complete": Gateway._message,
}


class HermesTui(Format):
    """What the gateway wrote."""

    name = "hermes-tui-rpc"
    title = "Hermes gateway events"
    source = "rpc"
    agent = "hermes"
    clock = "relative"

    def sniff(self, head: bytes, name: str) -> float:
        """By JSON-RPC events that carry a type and a payload."""
        found = [mapping(one.get("m") or one.get("msg")) or one for one in records(head)]
        mine = [
            one
            for one in found
            if one.get("method") == "event" and "type" in mapping(one.get("params"))
        ]
        return 0.9 if mine and len(mine) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one connection."""
        return Gateway(file)


READER = HermesTui()
