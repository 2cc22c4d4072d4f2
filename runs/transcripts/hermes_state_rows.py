"""Rows of Hermes' ``state.db`` as JSON lines ``{t, table, row}``: sessions, messages, delegations.

A run's own program writes a line for each new or changed row. A session with a
``_delegate_from`` is a sub-agent; its id is that of its session. The row of a session says
when it ended and not how: an end is inferred only where its last message is a whole answer.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._hermes import Delegations, delivered, notices, paired, parsed, told
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._steady import Order
from runs.transcripts._values import integer, items, length, mapping, number, status, text

ROWS = frozenset({"sessions", "messages", "async_delegations"})
WHOLE = frozenset({"stop", "end_turn"})
"""Finish reasons of a whole answer."""
COMPRESSED = "compression"
"""Why a session ends whose conversation goes on, shorter, in another one."""
UNMARKED = tuple(f"0.{minor}." for minor in range(17))
"""Versions that do not mark a sub-agent's session: each session below another is taken for one."""


class Rows(Lines):
    """One database."""

    envelope = frozenset({"table", "type"})
    order = Order(jump=None, strict=False)

    def __init__(self, file: str) -> None:
        super().__init__(file, "session")
        self.facts["agent"] = "hermes"
        self._agents: dict[str, str] = {}
        self._ended: set[str] = set()
        self._last: dict[str, Mapping[str, Any]] = {}
        self._delegations = Delegations()
        self._delivered: set[str] = set()
        self._unmarked = False
        self._states: dict[str, tuple[str, str]] = {}

    def record(self, record: Mapping[str, Any]) -> None:
        """One row, or a word of the program that wrote them."""
        row = mapping(record.get("row"))
        self.native = text(record.get("table") or record.get("type"), 80)
        self.at = number(record.get("t"))
        if self.native == "sessions":
            self._session(row)
        elif self.native == "messages":
            self.at = number(row.get("timestamp")) or self.at
            self._message(row, self._agents.get(text(row.get("session_id")), ROOT))
        elif self.native == "async_delegations":
            self._delegation(row)
        elif self.native == "client/version":
            version = text(record.get("version"), 64)
            self._unmarked = version.startswith(UNMARKED)
            self.add(Kind.RUNTIME, version=version, platform="")
        elif self.native == "client/limit":
            name, value = text(record.get("name"), 80), integer(record.get("value"))
            self.add(Kind.LIMIT, name=name, value=value)
        else:
            self.other(self.native, text(record.get("code")))

    # Sessions

    def _session(self, row: Mapping[str, Any]) -> None:
        session = text(row.get("id"))
        agent = self._agents.get(session)
        if agent is None:
            self._begin(session, row)
        elif row.get("ended_at") and session not in self._ended:
            self._ended.add(session)
            self.at = number(row.get("ended_at")) or self.at
            self._end(agent, session, row)
        else:
            self.other("sessions", "changed", agent)

    def _begin(self, session: str, row: Mapping[str, Any]) -> None:
        self.at = number(row.get("started_at")) or self.at
        above = text(row.get("parent_session_id"))
        settings = mapping(parsed(row.get("model_config")))
        model = text(row.get("model")) or None
        if not above:
            self._agents[session] = ROOT
            self.add(Kind.SESSION_STARTED, ROOT, session=session, model=model)
        elif settings.get("_delegate_from", above) != above and above in self._agents:
            # A sub-agent goes on under another id: who delegated to it is not the one above.
            self._agents[session] = self._agents[above]
            self._last[session] = self._last.get(above, {})
            self.other("sessions", "goes on under another id", self._agents[session])
        elif self._unmarked or "_delegate_from" in settings or row.get("source") == "subagent":
            self._agents[session] = session
            parent = self._agents.get(above, ROOT)
            call = self._delegations.begin(parent, session)
            self.add(Kind.AGENT_STARTED, session, parent=parent, model=model, call=call or None)
        else:  # The same conversation goes on under another id.
            self._agents[session] = self._agents.get(above, ROOT)
            self.add(Kind.SESSION_RESUMED, self._agents[session], session=session)

    def _end(self, agent: str, session: str, row: Mapping[str, Any]) -> None:
        raw = text(row.get("end_reason"), 40)
        if agent == ROOT:
            self.add(Kind.SESSION_ENDED, ROOT, how=raw)
            return
        if raw == COMPRESSED:
            self.other("sessions", raw, agent)
            return
        last = self._last.get(session, {})
        if last.get("role") != "assistant" or last.get("finish_reason") not in WHOLE:
            self.add(Kind.STATUS, agent, status="ended", raw=raw)
            return
        size = length(last.get("content"))
        self.add(
            Kind.AGENT_ENDED,
            agent,
            status="completed",
            raw=raw,
            text_length=size,
            has_result=size > 0,
            detail="inferred from the last record",
        )

    # Messages

    def _message(self, row: Mapping[str, Any], agent: str) -> None:
        role, session = text(row.get("role"), 40), text(row.get("session_id"))
        begun = session in self._last
        self._last[session] = row
        if role == "user" and agent != ROOT and begun:
            self.other("message/user", "its own word to its model: nobody else speaks to it", agent)
        elif role == "user":
            self._heard(row, agent)
        elif role == "assistant":
            self._said(row, agent)
        elif role == "tool":
            self._answered(row, agent)
        else:
            self.other(f"message/{role}", agent=agent)

    def _heard(self, row: Mapping[str, Any], agent: str) -> None:
        """What somebody says to it: a result that comes late, else a prompt."""
        name, results = delivered(row.get("content"))
        if results:
            self._deliver(agent, name, results)
        else:
            self.add(Kind.USER_MESSAGE, agent, text_length=length(row.get("content")))

    def _deliver(self, agent: str, name: str, results: list[dict[str, Any]]) -> None:
        """Word of a delegation in the background; a row says the same once more."""
        if name in self._delivered:
            return
        self._delivered.add(name)
        for note in notices(name, self._delegations.children(name), results):
            self.native_id, self._added = f"{name}/{note['child']}", 0
            self.add(Kind.NOTICE_DELIVERED, agent, **note)

    def _said(self, row: Mapping[str, Any], agent: str) -> None:
        calls = items(parsed(row.get("tool_calls")))
        finish = text(row.get("finish_reason"), 40)
        self.add(
            Kind.AGENT_MESSAGE,
            agent,
            text_length=length(row.get("content")),
            final=not calls and finish in WHOLE,
            finish=finish or None,
            tool_calls=len(calls),
        )
        for call in calls:
            function = mapping(mapping(call).get("function"))
            name, number_ = text(function.get("name"), 80), text(mapping(call).get("id"))
            self.add(Kind.TOOL_STARTED, agent, call=number_, tool=name)
            if name == "delegate_task":
                given = mapping(parsed(function.get("arguments")))
                for one in self._delegations.ask(agent, number_, given):
                    self.add(Kind.SPAWN_REQUESTED, agent, **one)

    def _answered(self, row: Mapping[str, Any], agent: str) -> None:
        call, tool = text(row.get("tool_call_id")), text(row.get("tool_name"), 80)
        content = row.get("content")
        self.add(Kind.TOOL_ENDED, agent, call=call, tool=tool, text_length=length(content))
        if self._delegations.knows(agent, call):
            for kind, data in self._delegations.answer(agent, call, mapping(parsed(content))):
                self.add(kind, agent, **data)

    # Delegations in the background

    def _delegation(self, row: Mapping[str, Any]) -> None:
        name = text(row.get("delegation_id"))
        state, delivery = text(row.get("state"), 40), text(row.get("delivery_state"), 40)
        before = self._states.get(name, ("", ""))
        self._states[name] = (state, delivery)
        agent = self._agents.get(text(row.get("parent_session_id")), ROOT)
        ended = row.get("completed_at") and row.get("result_json")
        results = told(mapping(parsed(row.get("result_json")))) if ended else []
        children = self._delegations.children(name)
        if results and state != before[0]:
            self.at = number(row.get("completed_at")) or self.at
            for child, result in paired(children, results):
                raw = text(result.get("raw"), 40)
                self.add(Kind.NOTICE_QUEUED, agent, child=child, status=status(raw), raw=raw)
        if delivery == "delivered" and delivery != before[1]:
            self.at = number(row.get("delivered_at")) or self.at
            self._deliver(agent, name, results)
        if not results:
            self.other("async_delegations", f"{state} {delivery}", agent)


class HermesStateRows(Format):
    """What a run's program wrote of a database."""

    name = "hermes-state-rows"
    title = "Hermes state database, row by row"
    source = "session"
    agent = "hermes"

    def sniff(self, head: bytes, name: str) -> float:
        """By the names of its tables."""
        found = records(head)
        mine = [one for one in found if text(one.get("table"), 40) in ROWS and "row" in one]
        return 0.95 if mine and len(mine) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one database."""
        return Rows(file)


READER = HermesStateRows()
