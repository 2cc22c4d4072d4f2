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
        return bool(parent) and parent not in self.spans


def trace_of(events: Sequence[Event], root: str) -> Trace:
    """The trace that these ``trace.span`` events make."""
    spans = {str(event.get("span")): event for event in events}
    owners: dict[str, str] = {}
    for event in events:
        conversation = str(event.get("conversation") or "")
        if event.get("op") == AGENT_OPERATION and conversation:
            agent = event.agent or str(event.get("agent_id") or "") or root
            owners.setdefault(conversation, agent)
    return Trace(spans, owners)
