"""session.status, ours: the states of an agent and the legal steps between them, as one table.

Each driver and reader maps its agent's own word to one of these and keeps the
raw word. A step that the table does not know is a remark on the page, never a
finding: agents leave words out, and a lost word is not a broken law.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from runs.core.events import Event, Kind

STATES: Mapping[str, str] = {
    "starting": "It exists and has not asked its model yet.",
    "running": "Its model or one of its tools is at work.",
    "waiting": "It waits for its children, for a question, or for its turn.",
    "retrying": "A model call failed and the next try is announced.",
    "idle": "It is done and takes further work.",
    "failed": "Its last work ended in an error; it may take further work.",
    "ended": "It is gone.",
}
"""Every state with what it means."""

STEPS: Mapping[str, frozenset[str]] = {
    "": frozenset(STATES),
    "starting": frozenset({"running", "waiting", "retrying", "idle", "failed", "ended"}),
    "running": frozenset({"waiting", "retrying", "idle", "failed", "ended"}),
    "waiting": frozenset({"running", "retrying", "idle", "failed", "ended"}),
    "retrying": frozenset({"running", "waiting", "idle", "failed", "ended"}),
    "idle": frozenset({"starting", "running", "waiting", "ended"}),
    "failed": frozenset({"starting", "running", "idle", "ended"}),
    "ended": frozenset({"starting", "running"}),
}
"""Where each state may lead. Staying is always legal; from "ended" only a resume leads back."""


class Step(NamedTuple):
    """One change of state of one agent, and whether the table knows it."""

    agent: str
    before: str
    after: str
    legal: bool
    event: Event


def is_legal(before: str, after: str) -> bool:
    """Whether a step is legal; an unknown state is not."""
    return after in STATES and (before == after or after in STEPS.get(before, frozenset()))


def steps(events: Iterable[Event]) -> list[Step]:
    """The steps that the ``session.status`` events tell, in order; staying is left out."""
    states: dict[str, str] = {}
    found: list[Step] = []
    for event in events:
        if event.kind is not Kind.STATUS:
            continue
        before, after = states.get(event.agent, ""), str(event.get("status") or "")
        if after != before:
            found.append(Step(event.agent, before, after, is_legal(before, after), event))
            states[event.agent] = after
    return found
