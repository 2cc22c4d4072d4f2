"""Agent Client Protocol traffic: JSON-RPC between a client and an agent, both directions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._values import length, mapping, moment, number, seconds, text

_FROM_CLIENT = ("initialize", "authenticate", "session/new", "session/load", "session/prompt",
                "session/cancel", "session/set_mode", "session/set_model")  # fmt: skip
_FROM_AGENT = ("session/update", "session/request_permission", "fs/", "terminal/")


class Acp(Lines):
    """One log. A line is ``{t_ms, dir, msg}``, or the message alone.

    A connection may hold several sessions: the first one's agent is the root, the others have
    the names of their sessions (see ``_join`` for whose log is attached beside it).
    """

    envelope = frozenset({"jsonrpc"})

    def __init__(self, file: str) -> None:
        super().__init__(file, "acp")
        self._beside: set[str] = set()
        self._methods: dict[str, tuple[str, str]] = {}
        """The requests that wait for an answer: method and session."""

    def record(self, record: Mapping[str, Any]) -> None:
        """One message."""
        inner = mapping(record.get("msg") or record.get("message"))
        message = inner if {"method", "id", "result", "error"} & inner.keys() else record
        self.at = seconds(record.get("t_ms"))
        if self.at is None:
            self.at = number(record.get("t"))
        if self.at is None:
            self.at = moment(record.get("timestamp") or record.get("ts"))
        method = text(message.get("method"), 80)
        name = text(message.get("id"))
        self.native = method or "response"
        params = mapping(message.get("params"))
        session = text(params.get("sessionId"))
        if method:
            if name and len(self._methods) < 100_000:
                self._methods[f"{_side(record, method)}/{name}"] = method, session
            self._request(method, name, params, self._agent(session))
        else:
            self._response(record, name, message)

    def _agent(self, session: str) -> str:
        """Whose session it is; the first that is named is the root's."""
        if not session or session == self.facts.setdefault("session", session):
            return ROOT
        if session not in self._beside:
            self._beside.add(session)
            self.facts.setdefault("beside", []).append(session)
            self.add(Kind.SESSION_STARTED, session, session=session)
        return session

    def _request(self, method: str, name: str, params: Mapping[str, Any], agent: str) -> None:
        if method == "session/prompt":
            self.add(Kind.USER_MESSAGE, agent, text_length=length(params.get("prompt")),
                     **{"from": "client"})  # fmt: skip
        elif method == "session/cancel":
            self.add(Kind.CANCEL_REQUESTED, agent, target=agent, by="user", raw=method)
        elif method == "session/request_permission":
            call = mapping(params.get("toolCall"))
            tool = text(call.get("title") or call.get("toolCallId"))
            self.add(Kind.QUESTION_ASKED, agent, id=name, what="permission", tool=tool)
            self.add(
                Kind.QUESTION_SHOWN, agent, id=name, to="client", call=text(call.get("toolCallId"))
            )
        elif method == "session/update":
            self._update(mapping(params.get("update")), agent)
        else:
            self.other(method, agent=agent)

    def _update(self, update: Mapping[str, Any], agent: str) -> None:
        kind = text(update.get("sessionUpdate"), 80)
        self.native = f"session/update/{kind}"
        call = text(update.get("toolCallId"))
        word = text(update.get("status"), 40)
        if kind in ("agent_message_chunk", "agent_thought_chunk"):
            what = "text" if kind == "agent_message_chunk" else "thought"
            self.add(Kind.DELTA, agent, text_length=length(update.get("content")), what=what)
        elif kind == "tool_call":
            self.add(Kind.TOOL_STARTED, agent, call=call, tool=text(update.get("title")))
        elif kind == "tool_call_update" and word in ("completed", "failed"):
            self.add(Kind.TOOL_ENDED, agent, call=call, tool="", ok=word == "completed")
        else:
            self.other(self.native, summary=word, agent=agent)

    def _response(self, record: Mapping[str, Any], name: str, message: Mapping[str, Any]) -> None:
        """An answer belongs to the request of the other side with its id."""
        direction = text(record.get("dir"), 20)
        asked = {"c2s": "server", "in": "server", "s2c": "client", "out": "client"}.get(direction)
        sides = [asked] if asked else ["client", "server"]
        method = session = ""
        for side in sides:
            if not method:
                method, session = self._methods.pop(f"{side}/{name}", ("", ""))
        agent = self._agent(session)
        result = mapping(message.get("result"))
        failed = "error" in message
        self.native = f"{method or 'unknown'} answered"
        if method == "session/prompt":
            reason = text(result.get("stopReason"), 40)
            ours = "failed" if failed else "cancelled" if reason == "cancelled" else "completed"
            self.add(Kind.TURN_ENDED, agent, status=ours, raw=reason or "error")
        elif method == "session/request_permission":
            outcome = mapping(result.get("outcome"))
            answer = text(outcome.get("optionId") or outcome.get("outcome"), 80)
            self.add(Kind.QUESTION_ANSWERED, agent, id=name, answer=answer, by="client")
        elif method in ("session/new", "session/load") and not failed:
            session = text(result.get("sessionId")) or session
            agent = self._agent(session)
            if agent == ROOT:
                new = method == "session/new"
                kind = Kind.SESSION_STARTED if new else Kind.SESSION_RESUMED
                self.add(kind, agent, session=session)
        else:
            self.other(self.native, agent=agent)


def _side(record: Mapping[str, Any], method: str) -> str:
    """Who sent a request: the client or the agent (here `server`)."""
    direction = text(record.get("dir"), 20)
    if direction in ("c2s", "in", "client"):
        return "client"
    if direction in ("s2c", "out", "agent", "server"):
        return "server"
    return "server" if method.startswith(_FROM_AGENT) else "client"


class AcpFormat(Format):
    """A log of one connection."""

    name = "acp-json-rpc"
    title = "Agent Client Protocol traffic"
    source = "acp"
    clock = "relative"

    def sniff(self, head: bytes, name: str) -> float:
        """By JSON-RPC with the protocol's methods."""
        found = [mapping(one.get("msg") or one.get("message")) or one for one in records(head)]
        mine = [one for one in found if text(one.get("method"), 80).startswith(("session/", "fs/"))]
        if not mine:
            return 0.0
        spoken = [
            one
            for one in found
            if one.get("jsonrpc") == "2.0" or "result" in one or "method" in one
        ]
        return 0.93 if len(spoken) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one log."""
        return Acp(file)


READER = AcpFormat()
