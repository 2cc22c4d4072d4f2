"""Hermes' hook payloads: starts and stops of sub-agents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._values import (
    error_class,
    integer,
    length,
    mapping,
    moment,
    seconds,
    status,
    text,
)

HOOKS = frozenset({"subagent_start", "subagent_stop", "on_session_start", "on_session_end",
                   "pre_tool_call", "post_tool_call", "pre_llm_call", "post_llm_call",
                   "on_session_finalize", "on_session_reset", "api_request_error"})  # fmt: skip


class Hooks(Lines):
    """One log. A sub-agent's id is that of its session, as in every view; a stop names only that,
    a start also its short id, by which a grandchild names its parent."""

    envelope = frozenset({"hook_event_name"})

    def __init__(self, file: str) -> None:
        super().__init__(file, "hooks")
        self.facts["agent"] = "hermes"
        self._by_session: dict[str, str] = {}
        self._by_short: dict[str, str] = {}
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
            how = "completed" if extra.get("completed", True) else "failed"
            how = "interrupted" if extra.get("interrupted") is True else how
            self.add(Kind.TURN_ENDED, agent, status=how, raw=self.native)
        elif self.native == "api_request_error":
            self._error(extra, agent)
        else:
            self.other(self.native, agent=agent)

    def _error(self, extra: Mapping[str, Any], agent: str) -> None:
        """A failed request: the tries so far are counted from none."""
        error = mapping(extra.get("error"))
        tries, most = integer(extra.get("retry_count")), integer(extra.get("max_retries"))
        code = integer(extra.get("status_code"))
        goes_on = extra.get("retryable") is True and (tries or 0) + 1 < (most or 0)
        self.add(
            Kind.ERROR,
            agent,
            error_class=error_class(extra.get("reason"), code),
            http_status=code,
            code=text(extra.get("reason"), 80),
            retryable=extra.get("retryable") is True,
            will_retry=goes_on,
            raw=text(error.get("type"), 80),
            detail=text(error.get("message"), 400),
        )
        if goes_on:
            attempt = None if tries is None else tries + 1
            reason = text(extra.get("reason"), 80)
            self.add(
                Kind.MODEL_RETRY, agent, attempt=attempt, of=most, reason=reason, http_status=code
            )

    def _start(self, extra: Mapping[str, Any]) -> None:
        short, session = text(extra.get("child_subagent_id")), text(extra.get("child_session_id"))
        child = session or short
        self._by_session[session] = self._by_short[short] = child
        above = text(extra.get("parent_subagent_id"))
        self.add(
            Kind.AGENT_STARTED,
            child,
            parent=self._by_short.get(above, above) or ROOT,
            role=text(extra.get("child_role")),
        )

    def _stop(self, extra: Mapping[str, Any]) -> None:
        session = text(extra.get("child_session_id"))
        child = session or text(extra.get("child_subagent_id"))
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
