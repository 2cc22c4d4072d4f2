"""OTLP JSON: spans of the GenAI conventions (invoke_agent, chat, execute_tool).

One export is a document; a file with an export a line is read as well. Agents
are told by ``gen_ai.agent.id``, else by the conversation; what hangs under no
agent's span is the root's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from runs.core.events import ROOT, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._documents import Document
from runs.transcripts._values import error_class, integer, items, mapping, moment, text

_CODE = re.compile("[1-5][0-9]{2}")
"""An HTTP status in words."""
_KINDS = ("stringValue", "intValue", "doubleValue", "boolValue")


@dataclass(slots=True)
class Span:
    """One span, as it stands."""

    id: str
    parent: str
    trace: str
    name: str
    start: float | None
    end: float | None
    ok: bool | None
    attributes: Mapping[str, Any]

    @property
    def operation(self) -> str:
        """``invoke_agent``, ``chat``, ``execute_tool`` … by attribute, else by name."""
        return text(self.attributes.get("gen_ai.operation.name")) or self.name.split(" ", 1)[0]

    def get(self, *names: str) -> str:
        """The first of these attributes that says something."""
        found = (text(self.attributes.get(name)) for name in names)
        return next((value for value in found if value), "")


class Trace(Document):
    """One file of exports."""

    def parse(self, data: bytes) -> Any:
        """One document, or one a line."""
        words = data.decode("utf-8")
        try:
            return [json.loads(words)]
        except ValueError:
            return [json.loads(line) for line in words.splitlines() if line.strip()]

    def document(self, data: Any) -> None:
        """All spans, by their end."""
        spans: list[Span] = []
        for export in items(data):
            for group in items(mapping(export).get("resourceSpans")):
                self._resource(mapping(mapping(group).get("resource")))
                for scope in items(mapping(group).get("scopeSpans")):
                    found = items(mapping(scope).get("spans"))
                    spans.extend(_span(mapping(one)) for one in found)
        whole = {(span.trace, span.id): span for span in spans}  # One may be exported again.
        whole |= {(span.trace, span.id): span for span in spans if span.end is not None}
        agents = _Agents(whole.values())
        for span in spans:
            if not span.id or whole[span.trace, span.id] is span:
                self._add(span, agents)
            else:
                self._again(span, agents)

    def _resource(self, resource: Mapping[str, Any]) -> None:
        found = _attributes(resource.get("attributes"))
        name = text(found.get("service.name"))
        self.facts.setdefault("title", name)
        self.facts.setdefault("version", text(found.get("service.version")))
        for agent in ("copilot", "codex", "claude", "opencode"):
            if agent in name:
                self.facts.setdefault("agent", agent)

    def _again(self, span: Span, agents: _Agents) -> None:
        """Another state, or a copy, of a span that stands elsewhere."""
        self.native, self.pointer, self.at = span.operation, span.id, span.end or span.start
        self.other("span/again", summary=span.name, agent=agents.of(span))

    def _add(self, span: Span, agents: _Agents) -> None:
        agent = agents.of(span)
        self.native, self.pointer = span.operation, span.id
        if span.operation == "invoke_agent" and agent != ROOT:
            self.at = span.start
            self.add(
                Kind.AGENT_STARTED,
                agent,
                parent=agents.above(span),
                name=span.get("gen_ai.agent.name") or span.name.partition(" ")[2],
            )
            self.at = span.end
            if span.end is not None:
                self.add(
                    Kind.AGENT_ENDED,
                    agent,
                    status="failed" if span.ok is False else "completed",
                    raw="error" if span.ok is False else "ok",
                    error_class=_class(span) if span.ok is False else None,
                )
        self.at = span.end if span.end is not None else span.start
        self.add(
            Kind.SPAN,
            agent,
            span=span.id,
            parent=span.parent,
            trace=span.trace,
            op=span.operation,
            name=span.name,
            conversation=span.get("gen_ai.conversation.id"),
            agent_id=span.get("gen_ai.agent.id"),
            start=span.start,
            end=span.end,
            ok=span.ok,
            error_class=_class(span) if span.ok is False else None,
            http_status=_status(span),
            tool=span.get("gen_ai.tool.name"),
            model=span.get("gen_ai.response.model", "gen_ai.request.model"),
            finish=span.get("gen_ai.response.finish_reasons") or None,
        )


class _Agents:
    """Whose span each is. The id of an agent stands on its own span, if anywhere."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self.by_id = {span.id: span for span in spans}
        self.names: set[str] = set()
        owners: dict[str, set[str]] = {}
        for span in self.by_id.values():
            if span.operation == "invoke_agent":
                name = self._name(span)
                self.names.add(name)
                owners.setdefault(span.get("gen_ai.conversation.id"), set()).add(name)
        # One that a whole tree shares tells nobody's.
        self.by_conversation = {
            one: next(iter(names)) for one, names in owners.items() if one and len(names) == 1
        }

    def _name(self, span: Span) -> str:
        """The agent of an invoke_agent span; the outermost is the root."""
        if self._owner(span) is None:
            return ROOT
        return span.get("gen_ai.agent.id") or f"span-{span.id}"

    def _owner(self, span: Span) -> Span | None:
        """The nearest invoke_agent span above it."""
        seen = {span.id}
        above = self.by_id.get(span.parent)
        while above is not None and above.id not in seen:
            if above.operation == "invoke_agent":
                return above
            seen.add(above.id)
            above = self.by_id.get(above.parent)
        return None

    def of(self, span: Span) -> str:
        """The agent that a span belongs to: by its own id, its conversation, its place."""
        if span.operation == "invoke_agent":
            return self._name(span)
        own = span.get("gen_ai.agent.id")
        if own in self.names:
            return own
        conversation = self.by_conversation.get(span.get("gen_ai.conversation.id"))
        if conversation:
            return conversation
        owner = self._owner(span)
        return self._name(owner) if owner is not None else ROOT

    def above(self, span: Span) -> str:
        """The agent that invoked this one."""
        owner = self._owner(span)
        return self._name(owner) if owner is not None else ROOT


def _attributes(value: Any) -> dict[str, Any]:
    """Attributes by name; of a list its first value."""
    found: dict[str, Any] = {}
    for one in items(value):
        inner = mapping(mapping(one).get("value"))
        several = items(mapping(inner.get("arrayValue")).get("values"))
        rows = [mapping(row) for row in several] or [inner]
        values = (_value(kind, row[kind]) for row in rows for kind in _KINDS if kind in row)
        found[text(mapping(one).get("key"))] = next(values, None)
    return found


def _value(kind: str, value: Any) -> Any:
    """An attribute's value; a whole number stands in JSON as a text."""
    if kind == "intValue" and isinstance(value, str) and re.fullmatch("[0-9]{1,15}", value):
        return int(value)
    return value


def _span(record: Mapping[str, Any]) -> Span:
    code = mapping(record.get("status")).get("code")
    ok = {1: True, 2: False, "STATUS_CODE_OK": True, "STATUS_CODE_ERROR": False}.get(
        code if isinstance(code, (int, str)) else ""
    )
    attributes = _attributes(record.get("attributes"))
    answered = integer(attributes.get("http.response.status_code")) or 0
    if ok is None and (attributes.get("error.type") or answered >= 400):
        ok = False  # It ended with an error, whether its own status says so or is left out.
    return Span(
        id=text(record.get("spanId")),
        parent=text(record.get("parentSpanId")),
        trace=text(record.get("traceId")),
        name=text(record.get("name")),
        start=_nanoseconds(record.get("startTimeUnixNano")),
        end=_nanoseconds(record.get("endTimeUnixNano")),
        ok=ok,
        attributes=attributes,
    )


def _nanoseconds(value: Any) -> float | None:
    at = moment(value)
    return at if at else None  # A zero is "not ended".


def _class(span: Span) -> str:
    return error_class(span.get("error.type"), _status(span))


def _status(span: Span) -> int | None:
    """The status of its HTTP exchange: an attribute of its own, or its type of error."""
    code = integer(span.attributes.get("http.response.status_code"))
    word = span.get("error.type")
    return int(word) if code is None and _CODE.fullmatch(word) else code


class Otlp(Format):
    """An exporter's file."""

    name = "otlp-json"
    title = "OTLP trace"
    source = "trace"
    whole = True

    def sniff(self, head: bytes, name: str) -> float:
        """By its outermost key."""
        start = head.lstrip(b"\xef\xbb\xbf \r\n\t")[:200]
        return 0.95 if start.startswith((b"{", b"[")) and b'"resourceSpans"' in start else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one file."""
        return Trace(file, self.source)


READER = Otlp()
