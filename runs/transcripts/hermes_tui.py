"""Hermes' tui gateway: JSON-RPC events of one conversation, ``{t, m}`` or the message alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._values import TERMINAL, length, mapping, moment, number, status, text

SPAWN_TOOLS = frozenset({"delegate_task"})


class Gateway(Lines):
    """One connection."""

    envelope = frozenset({"jsonrpc"})
    ordered = False

    def __init__(self, file: str) -> None:
        super().__init__(file, "rpc")
        self.facts["agent"] = "hermes"
        self._tools: dict[str, str] = {}
        self._last_spawn = ""

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
        agent = text(payload.get("subagent_id")) or ROOT
        if handler is None:
            self.other(self.native, agent=agent)
        else:
            handler(self, payload, agent)

    def _child_start(self, payload: Mapping[str, Any], agent: str) -> None:
        self.add(
            Kind.AGENT_STARTED,
            agent,
            parent=text(payload.get("parent_id")) or ROOT,
            name=text(payload.get("goal"), 80),
            model=text(payload.get("model")) or None,
            call=self._last_spawn or None,
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
        self._tools[call] = tool
        self.add(Kind.TOOL_STARTED, agent, call=call, tool=tool)

    def _tool_end(self, payload: Mapping[str, Any], agent: str) -> None:
        call, tool = text(payload.get("tool_id")), text(payload.get("name"))
        self._tools.pop(call, None)
        self.add(Kind.TOOL_ENDED, agent, call=call, tool=tool)
        result = mapping(payload.get("result"))
        if tool in SPAWN_TOOLS and result.get("status") == "dispatched":
            self.add(Kind.SPAWN_REQUESTED, agent, call=call, background=True)
            self.add(Kind.SPAWN_ANSWERED, agent, call=call, ok=True, background=True)

    def _delta(self, payload: Mapping[str, Any], agent: str) -> None:
        self.add(Kind.DELTA, agent, text_length=length(payload.get("text")), what="text")

    def _message(self, payload: Mapping[str, Any], agent: str) -> None:
        size = length(payload.get("text"))
        failed = text(payload.get("status"), 40) in ("error", "failed")
        self.add(Kind.AGENT_MESSAGE, agent, text_length=size, final=True, error=failed)


_HANDLERS = {
    "subagent.start": Gateway._child_start,
    "subagent.complete": Gateway._child_end,
    "subagent.thinking": Gateway._thinking,
    "tool.start": Gateway._tool_start,
    "tool.complete": Gateway._tool_end,
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
