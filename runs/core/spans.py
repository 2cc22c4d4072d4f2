"""Trace spans: whose they are by their conversation, and under whom they hang."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from runs.core.events import Event

AGENT_OPERATION = "invoke_agent"


@dataclass(frozen=True, slots=True)
class Trace:
    """The spans of an export, by id, and the agents that their conversations belong to."""

    spans: Mapping[str, Event]
    owners: Mapping[str, str]
    outer: frozenset[str] = frozenset()
    """The spans that an outermost agent's hangs under: their parent may be another program's."""

    def agent_of(self, span: Event) -> str:
        """The agent whose span it is: its own, else that of its conversation, else unknown."""
        return span.agent or self.owners.get(str(span.get("conversation") or ""), "")

    def home_of(self, span: Event) -> Event | None:
        """The nearest agent span above it, None where the export has none."""
        seen: set[str] = set()
        above = self.spans.get(str(span.get("parent") or ""))
        while above is not None and str(above.get("span")) not in seen:
            if above.get("op") == AGENT_OPERATION:
                return above
            seen.add(str(above.get("span")))
            above = self.spans.get(str(above.get("parent") or ""))
        return None

    def is_orphan(self, span: Event) -> bool:
        """Whether it names a parent that the export does not hold."""
        parent = str(span.get("parent") or "")
        lost = bool(parent) and parent not in self.spans
        return lost and str(span.get("span")) not in self.outer


def trace_of(events: Sequence[Event], root: str) -> Trace:
    """The trace that these ``trace.span`` events make."""
    spans = {str(event.get("span")): event for event in events}
    owners: dict[str, set[str]] = {}
    for event in events:
        conversation = str(event.get("conversation") or "")
        if event.get("op") == AGENT_OPERATION and conversation:
            agent = event.agent or str(event.get("agent_id") or "") or root
            owners.setdefault(conversation, set()).add(agent)
    sole = {one: next(iter(names)) for one, names in owners.items() if len(names) == 1}
    plain = Trace(spans, sole)
    above = {
        name
        for event in events
        if event.get("op") == AGENT_OPERATION and plain.home_of(event) is None
        for name in _above(spans, event)
    }
    return Trace(spans, sole, frozenset(above))


def _above(spans: Mapping[str, Event], span: Event) -> list[str]:
    """Ids of the spans that it hangs under, the nearest first."""
    found: list[str] = []
    parent = str(span.get("parent") or "")
    while parent in spans and parent not in found:
        found.append(parent)
        parent = str(spans[parent].get("parent") or "")
    return found
