"""Hermes' hook payloads: starts and stops of sub-agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._values import length, mapping, moment, seconds, status, text

HOOKS = frozenset({"subagent_start", "subagent_stop", "on_session_start", "on_session_end",
                   "pre_tool_call", "post_tool_call", "pre_llm_call", "post_llm_call",
                   "on_session_finalize", "on_session_reset"})  # fmt: skip


class Hooks(Lines):
    """One log. A stop names the child's session only, a start its session and its id."""

    envelope = frozenset({"hook_event_name"})

    def __init__(self, file: str) -> None:
        super().__init__(file, "hooks")
        self.facts["agent"] = "hermes"
        self._by_session: dict[str, str] = {}
        self._unnamed = 0

    def record(self, record: Mapping[str, Any]) -> None:
        """One payload."""
        extra = mapping(record.get("extra"))
        self.at = moment(record.get("received_at") or record.get("timestamp") or extra.get("ts"))
        self.native = text(record.get("hook_event_name"), 80)
        session = text(record.get("session_id"))
        agent = self._by_session.get(session, ROOT)
        tool = text(record.get("tool_name"))
        call = text(extra.get("tool_call_id"))
        if self.native == "subagent_start":
            self._start(extra)
        elif self.native == "subagent_stop":
            self._stop(extra)
        elif self.native == "pre_tool_call":
            self.add(Kind.TOOL_STARTED, agent, call=call, tool=tool)
        elif self.native == "post_tool_call":
            self.add(Kind.TOOL_ENDED, agent, call=call, tool=tool)
        elif self.native == "on_session_start" and agent == ROOT:
            self.add(Kind.SESSION_STARTED, ROOT, session=session)
        elif self.native == "on_session_end":
            how = "interrupted" if extra.get("interrupted") is True else "completed"
            self.add(Kind.TURN_ENDED, agent, status=how, raw=self.native)
        else:
            self.other(self.native, agent=agent)

    def _start(self, extra: Mapping[str, Any]) -> None:
        child, session = text(extra.get("child_subagent_id")), text(extra.get("child_session_id"))
        child = child or session
        self._by_session[session] = child
        self.add(
            Kind.AGENT_STARTED,
            child,
            parent=text(extra.get("parent_subagent_id")) or ROOT,
            role=text(extra.get("child_role")),
        )

    def _stop(self, extra: Mapping[str, Any]) -> None:
        session = text(extra.get("child_session_id"))
        child = self._by_session.get(session) or text(extra.get("child_subagent_id")) or session
        if not child:  # Older versions name nobody.
            self._unnamed += 1
            child = f"unnamed-{self._unnamed}"
        raw = text(extra.get("child_status"), 40)
        size = length(extra.get("child_summary"))
        self.add(
            Kind.AGENT_ENDED,
            child,
            status=status(raw) if raw else "stopped",
            raw=raw or self.native,
            text_length=size,
            has_result=size > 0,
            duration=seconds(extra.get("duration_ms")),
        )


class HermesHooks(Format):
    """What a hook command was handed."""

    name = "hermes-hook-payloads"
    title = "Hermes hook payloads"
    source = "hooks"
    agent = "hermes"
    clock = "none"

    def sniff(self, head: bytes, name: str) -> float:
        """By its hook names."""
        found = records(head)
        mine = [one for one in found if text(one.get("hook_event_name"), 80) in HOOKS]
        return 0.95 if mine and len(mine) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one log."""
        return Hooks(file)


READER = HermesHooks()
