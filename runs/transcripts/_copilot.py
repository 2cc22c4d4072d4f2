"""Copilot's event records, as its stdout and its session file both write them.

Up to 1.0.79 a sub-agent's id is the parent's call id, later a UUID; a notice and
a spawn answer may name it by the name that the parent gave. All of these are
mapped to the id on the sub-agent's own events.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._copilot_rest import REST
from runs.transcripts._copilot_tools import TOOLS, Tool, background_mode
from runs.transcripts._lines import Lines
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

_CLAIM = re.compile(r"retried (\d+) times? \(total retry wait time: (\d+(?:\.\d+)?) seconds?\)")
_CANCELLED = re.compile(
    r"(?:the |this )?(?:agent|sub-?agent|task|operation|request)?(?: was| has been)? ?"
    r"(?:cancell?ed|aborted)(?: by (?:the )?(?:user|parent|root))?\.?",
    re.I,
)
"""Words in the place of an error that say that there was none: somebody cancelled."""


@dataclass(slots=True)
class Child:
    """What is known of one sub-agent while its file is read."""

    ended: bool = False
    text_length: int | None = None
    turns: int = 0
    erred: bool = False


class Copilot(Lines):
    """Records of Copilot. The subclass says which view it is."""

    envelope = frozenset({"type", "timestamp"})

    def __init__(self, file: str, source: str) -> None:
        super().__init__(file, source)
        self.facts["agent"] = "copilot"
        self.children: dict[str, Child] = {}
        self.tools: dict[str, Tool] = {}
        self.by_call: dict[str, str] = {}
        self.by_name: dict[str, str] = {}
        self.sync_calls: set[str] = set()
        self.failure: dict[str, Mapping[str, Any]] = {}

    def identity(self, record: Mapping[str, Any]) -> str:
        """Every Copilot record has an id of its own."""
        return text(record.get("id"), 80)

    def record(self, record: Mapping[str, Any]) -> None:
        """One event record."""
        self.at = moment(record.get("timestamp"))
        self.native_id = text(record.get("id"), 80)
        self.chained(record)
        data = mapping(record.get("data"))
        agent = text(record.get("agentId")) or ROOT
        handler = _HANDLERS.get(self.native)
        if handler is not None:
            handler(self, data, agent)
        elif self.native == "result":
            self._result(record)
        elif self.native in TOOLS:
            TOOLS[self.native](self, data, agent)
        elif self.native in REST:
            REST[self.native](self, data, agent)
        else:
            self.other(self.native, agent=agent)

    def chained(self, record: Mapping[str, Any]) -> None:
        """Look at the record's place in the chain of parents."""

    def canonical(self, name: Any) -> str:
        """The id on a sub-agent's own events, for whatever id a notice or answer used."""
        found = text(name)
        return self.by_name.get(found, found)

    def child(self, agent: str) -> Child:
        """The state of one sub-agent."""
        return self.children.setdefault(agent, Child())

    def claim(self, message: Any, agent: str) -> None:
        """What the agent says afterwards about its retries."""
        found = _CLAIM.search(message[:2000]) if isinstance(message, str) else None
        if found:
            self.add(Kind.RETRY_CLAIM, agent, retries=int(found[1]), sleep=float(found[2]))

    # The session

    def _session_start(self, data: Mapping[str, Any], agent: str) -> None:
        version = text(data.get("copilotVersion"))
        session = text(data.get("sessionId"))
        model = text(data.get("selectedModel"))
        self.facts.update(version=version, session=session)
        if model:
            self.facts["model"] = model
        self.add(
            Kind.SESSION_STARTED,
            agent,
            version=version,
            model=model,
            session=session,
            cwd=text(mapping(data.get("context")).get("cwd"), 400),
        )

    def _result(self, record: Mapping[str, Any]) -> None:
        code = integer(record.get("exitCode"))
        self.facts.setdefault("session", text(record.get("sessionId")))
        self.add(
            Kind.RESULT,
            ROOT,
            status="" if code is None else "success" if code == 0 else "failure",
            exit_code=code,
            is_error=None if code is None else code != 0,
        )

    def _user_message(self, data: Mapping[str, Any], agent: str) -> None:
        known = self.children.get(agent)
        if known is not None:
            if known.ended:
                self.add(Kind.AGENT_RESUMED, agent, by=text(data.get("source")), reason="message")
            known.ended, known.text_length, known.turns = False, None, 0
        self.add(
            Kind.USER_MESSAGE,
            agent,
            text_length=length(data.get("content")),
            **{"from": text(data.get("source"))},
        )

    # Sub-agents

    def _started(self, data: Mapping[str, Any], agent: str) -> None:
        call = text(data.get("toolCallId"))
        if agent == ROOT:
            agent = self.by_call.get(call) or call or "unnamed"
        tool = self.tools.get(call)
        mode = text(data.get("executionMode"))
        self._learn(agent, call, tool)
        known = self.child(agent)
        if known.ended:
            self.add(Kind.AGENT_RESUMED, agent, call=call, reason="started again")
        known.ended, known.text_length, known.turns = False, None, 0
        if mode == "sync":
            self.sync_calls.add(call)
        arguments = tool.arguments if tool else {}
        self.add(
            Kind.AGENT_STARTED,
            agent,
            # Without the call's own record the spawner is not known; the join finds it.
            parent=self.canonical(data.get("parentId")) or (tool.agent if tool else None),
            name=text(arguments.get("name")) or text(data.get("agentDisplayName")),
            role=text(data.get("agentName")),
            model=text(data.get("model")) or None,
            background=background_mode(mode) if mode else background_mode(arguments.get("mode")),
            call=call,
        )

    def _learn(self, agent: str, call: str, tool: Tool | None) -> None:
        """Remember every name under which this sub-agent may be spoken of."""
        self.by_call[call] = agent
        if call:
            self.by_name[call] = agent
        if tool is not None:
            name = text(tool.arguments.get("name"))
            if name and name not in self.children:
                self.by_name[name] = agent

    def _ended(self, data: Mapping[str, Any], agent: str) -> None:
        call = text(data.get("toolCallId"))
        if agent == ROOT:
            agent = self.by_call.get(call) or call or "unnamed"
        word = self.native.rpartition(".")[2]
        error = data.get("error")
        ours = status(word)
        known = self.child(agent)
        if ours == "failed" and not known.erred and _CANCELLED.fullmatch(text(error, 80)):
            ours = "cancelled"
        if data.get("cancelled") is True or status(data.get("status")) == "cancelled":
            ours = "cancelled"
        size = known.text_length
        if size is None and known.turns:
            size = 0
        self.add(
            Kind.AGENT_ENDED,
            agent,
            status=ours,
            raw=self.native,
            call=call,
            error_class=error_class(data.get("errorType"), data.get("statusCode"))
            if ours == "failed"
            else None,
            text_length=size,
            has_result=None if size is None else size > 0,
            duration=seconds(data.get("durationMs")),
            detail=text(error, 300),
        )
        known.ended = True
        self.claim(error, agent)

    def _notification(self, data: Mapping[str, Any], agent: str) -> None:
        kind = mapping(data.get("kind"))
        word = text(kind.get("type"))
        if not word.startswith("agent_") or not kind.get("agentId"):
            self.other(self.native, summary=word, agent=agent)
            return
        ours = status(kind.get("status")) if kind.get("status") else status(word[6:])
        self.tell(
            agent, kind.get("agentId"), ours, "notification", text(kind.get("status")) or word
        )

    def tell(self, agent: str, child: Any, ours: str, form: str, raw: str, **more: Any) -> None:
        found = self.canonical(child)
        self.add(Kind.NOTICE_DELIVERED, agent, child=found, status=ours, raw=raw, form=form, **more)

    # What the model said

    def _message(self, data: Mapping[str, Any], agent: str) -> None:
        size = length(data.get("content"))
        calls = data.get("toolRequests")
        asked = len(calls) if isinstance(calls, list) else 0
        known = self.children.get(agent)
        if known is not None:
            known.erred = False
        if known is not None and (size or not asked):
            known.text_length = size
        self.add(
            Kind.AGENT_MESSAGE,
            agent,
            text_length=size,
            tool_calls=asked,
            final=not asked,
            model=text(data.get("model")) or None,
            empty=not size and not asked,
        )

    def _turn_start(self, data: Mapping[str, Any], agent: str) -> None:
        self.add(
            Kind.TURN_STARTED,
            agent,
            turn=text(data.get("turnId")),
            call=text(data.get("parentToolCallId")),
        )

    def _turn_end(self, data: Mapping[str, Any], agent: str) -> None:
        known = self.children.get(agent)
        if known is not None:
            known.turns += 1
        self.add(Kind.TURN_ENDED, agent, turn=text(data.get("turnId")))

    def _error(self, data: Mapping[str, Any], agent: str) -> None:
        word = data.get("errorType")
        code = integer(data.get("statusCode"))
        found = "stream" if word == "query" and code is None else error_class(word, code)
        if agent in self.children and found != "aborted":
            self.children[agent].erred = True
        self.add(
            Kind.ERROR,
            agent,
            error_class=found,
            http_status=code,
            code=text(data.get("errorCode")),
            raw=text(word),
            will_retry=False,
            detail=text(data.get("message"), 300),
        )
        self.claim(data.get("message"), agent)


_HANDLERS = {
    "session.start": Copilot._session_start,
    "user.message": Copilot._user_message,
    "subagent.started": Copilot._started,
    "subagent.completed": Copilot._ended,
    "subagent.failed": Copilot._ended,
    "subagent.cancelled": Copilot._ended,
    "subagent.aborted": Copilot._ended,
    "system.notification": Copilot._notification,
    "assistant.message": Copilot._message,
    "assistant.turn_start": Copilot._turn_start,
    "assistant.turn_end": Copilot._turn_end,
    "session.error": Copilot._error,
}
