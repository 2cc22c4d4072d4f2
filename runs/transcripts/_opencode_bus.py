"""OpenCode's bus events (server-sent events, or a log of them)."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

from runs.core.events import Kind
from runs.transcripts._opencode import OpenCode
from runs.transcripts._values import integer, length, mapping, moment, number, text

_WORDS = {"busy": "running", "idle": "idle", "retry": "retrying"}
_PERIOD = 1 << 36
"""Milliseconds after which the time in an event's id comes round again (2.2 years)."""


class Bus(OpenCode):
    """One stream of events of one server: all sessions."""

    sse = True

    def __init__(self, file: str, source: str = "bus") -> None:
        super().__init__(file, source)
        self.running: set[str] = set()
        self.failed: dict[str, str] = {}
        self.answered: dict[str, str] = {}
        """By session that is busy: `completed` after a whole answer, `interrupted` before it."""
        self.message_size: dict[str, int] = {}
        self.message_calls: dict[str, set[str]] = {}
        self.part_size: dict[str, int] = {}
        self.roles: dict[str, str] = {}
        self.done: set[str] = set()
        self.asked: set[str] = set()
        """Sessions of which messages to them are seen: without one they get no new work."""
        self.reference = 0.0

    def identity(self, record: Mapping[str, Any]) -> str:
        """Newer versions give each event an id."""
        return text(record.get("id"), 80)

    def record(self, record: Mapping[str, Any]) -> None:
        """One event, perhaps wrapped by the global stream as ``payload``."""
        inner = mapping(record.get("payload"))
        event = inner if "properties" in inner else record
        self.native = text(event.get("type"), 80)
        self.native_id = text(event.get("id"), 80)
        properties = mapping(event.get("properties"))
        self.at = self._when(record, event, properties)
        handler = _HANDLERS.get(self.native)
        agent = self._whose(properties)
        if handler is None:
            self.other(self.native, agent=agent)
        else:
            handler(self, properties, agent)

    def _whose(self, properties: Mapping[str, Any]) -> str:
        for key in ("part", "info"):
            inner = mapping(properties.get(key))
            if inner.get("sessionID"):
                return text(inner["sessionID"])
        return text(properties.get("sessionID"))

    def _when(
        self, record: Mapping[str, Any], event: Mapping[str, Any], properties: Mapping[str, Any]
    ) -> float | None:
        for holder in (record, event, properties):
            for key in ("time", "timestamp"):
                at = moment(holder.get(key))
                if at is not None and at > 1e8:
                    self.reference = at
                    return at
        created = mapping(mapping(properties.get("info")).get("time")).get("created")
        at = self._time_in(self.native_id, moment(created))
        return at if at is not None else number(record.get("_t"))

    def _time_in(self, name: str, near: float | None) -> float | None:
        """An event's id holds the lower 36 bits of its milliseconds."""
        digits = name.removeprefix("evt_")[:9]
        if not name.startswith("evt_") or len(digits) < 9:
            return near
        try:
            low = int(digits, 16)
        except ValueError:
            return near
        about = (self.reference or near or time.time()) * 1000
        at = (about - low) / _PERIOD
        found = (round(at) * _PERIOD + low) / 1000
        self.reference = self.reference or found
        return found

    # Sessions

    def _created(self, properties: Mapping[str, Any], agent: str) -> None:
        self.session(mapping(properties.get("info")))

    def _status(self, properties: Mapping[str, Any], agent: str) -> None:
        found = mapping(properties.get("status"))
        word = text(found.get("type"), 40)
        if word == "retry":
            following = moment(found.get("next"))
            delay = None if following is None or self.at is None else following - self.at
            self.add(
                Kind.MODEL_RETRY, agent, attempt=integer(found.get("attempt")),
                next_at=following, delay=delay,
            )  # fmt: skip
        self.add(
            Kind.STATUS,
            agent,
            status=_WORDS.get(word, "running"),
            raw=word,
            attempt=integer(found.get("attempt")),
            next_at=moment(found.get("next")),
        )
        if word == "idle":
            self._idle_now(agent)
        else:
            self._busy(agent)

    def _busy(self, agent: str) -> None:
        if agent in self.children and agent not in self.running:
            if agent in self.done and agent not in self.asked:
                self.add(Kind.AGENT_RESUMED, agent, reason="busy again")
            self.done.discard(agent)
            self.running.add(agent)

    def _idle(self, properties: Mapping[str, Any], agent: str) -> None:
        if agent in self.running or agent not in self.children:
            self.add(Kind.STATUS, agent, status="idle", raw=self.native)
        self._idle_now(agent)
        if not self.out:
            self.other(self.native, agent=agent)

    def _idle_now(self, agent: str) -> None:
        """A sub-agent's session that was busy and is idle has ended; there is no other record."""
        if agent not in self.running:
            return
        self.running.discard(agent)
        self.done.add(agent)
        kind = self.failed.pop(agent, "")
        ours = {"": self.answered.pop(agent, "stopped"), "aborted": "cancelled"}.get(kind, "failed")
        size = self.said.get(agent)
        self.add(
            Kind.AGENT_ENDED,
            agent,
            status=ours,
            raw="idle",
            error_class=kind or None,
            text_length=size,
            has_result=None if size is None else size > 0,
        )

    def _session_error(self, properties: Mapping[str, Any], agent: str) -> None:
        error = mapping(properties.get("error"))
        before = len(self.out)
        if self.error(agent, error):
            # Nobody but a client stops a session that no other one has spawned.
            by = None if agent in self.children else "user"
            self.add(Kind.ABORTED, agent, reason=text(error.get("name"), 80), by=by, target=agent)
            self.stopped.add(agent)
        self.failed[agent] = str(self.out[before].data.get("error_class"))

    # Messages

    def _message(self, properties: Mapping[str, Any], agent: str) -> None:
        info = mapping(properties.get("info"))
        name, role = text(info.get("id")), text(info.get("role"), 40)
        times = mapping(info.get("time"))
        first = name not in self.roles
        if len(self.roles) < 200_000:
            self.roles[name] = role
        over = times.get("completed") is not None or bool(info.get("error"))
        if role == "assistant":
            whole = over and text(info.get("finish"), 40) not in ("", "tool-calls")
            self.answered[agent] = "completed" if whole else "interrupted"
        if role == "assistant" and over and f"done:{name}" not in self.roles:
            self.roles[f"done:{name}"] = role
            size = self.message_size.get(name)
            self.finished(agent, info, size, len(self.message_calls.get(name, ())))
            if not info.get("error"):
                self.failed.pop(agent, None)
            else:
                before = len(self.out)
                self.error(agent, info["error"])
                self.failed.setdefault(agent, str(self.out[before].data.get("error_class")))
        elif role == "user" and first:
            self.said.pop(agent, None)
            self.stopped.discard(agent)
            self.asked.add(agent)
            self.add(Kind.USER_MESSAGE, agent)
        else:
            self.other(self.native, agent=agent)

    def _part(self, properties: Mapping[str, Any], agent: str) -> None:
        part = mapping(properties.get("part"))
        kind, message = text(part.get("type"), 40), text(part.get("messageID"))
        if kind == "tool":
            self.message_calls.setdefault(message, set()).add(text(part.get("callID")))
            self.tool(agent, part)
        elif kind == "text":
            self._text(part, agent, message)
        else:
            self.other(f"part/{kind}", agent=agent)

    def _text(self, part: Mapping[str, Any], agent: str, message: str) -> None:
        words, name = part.get("text"), text(part.get("id"))
        size = length(words)
        grown = size - self.part_size.get(name, 0)
        if len(self.part_size) < 200_000:
            self.part_size[name] = size
            self.message_size[message] = self.message_size.get(message, 0) + grown
        if self.roles.get(message) == "user":
            if not (isinstance(words, str) and self.notice(agent, words)):
                self.other("part/text", agent=agent)
            return
        self.said[agent] = self.message_size.get(message, size)
        self.add(Kind.DELTA, agent, text_length=max(grown, 0), what="text")

    def _delta(self, properties: Mapping[str, Any], agent: str) -> None:
        self.add(Kind.DELTA, agent, text_length=length(properties.get("delta")), what="text")

    # Questions

    def _asked(self, properties: Mapping[str, Any], agent: str) -> None:
        what = "permission" if self.native.startswith("permission") else "question"
        tool = text(properties.get("permission") or properties.get("type"))
        self.add(Kind.QUESTION_ASKED, agent, id=text(properties.get("id")), what=what, tool=tool)

    def _replied(self, properties: Mapping[str, Any], agent: str) -> None:
        asked = (
            properties.get("requestID") or properties.get("permissionID") or properties.get("id")
        )
        answer = properties.get("reply") or properties.get("response")
        if properties.get("answers"):
            answer = "answered"
        if self.native.endswith("rejected"):
            answer = "rejected"
        self.add(Kind.QUESTION_ANSWERED, agent, id=text(asked), answer=text(answer, 80))


_HANDLERS = {
    "session.created": Bus._created,
    "session.status": Bus._status,
    "session.idle": Bus._idle,
    "session.error": Bus._session_error,
    "message.updated": Bus._message,
    "message.part.updated": Bus._part,
    "message.part.delta": Bus._delta,
    "permission.asked": Bus._asked,
    "permission.updated": Bus._asked,
    "permission.replied": Bus._replied,
    "question.asked": Bus._asked,
    "question.replied": Bus._replied,
    "question.rejected": Bus._replied,
}
