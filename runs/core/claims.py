"""The waits that an agent announces before it tries again, next to the gaps that were measured."""

from __future__ import annotations

from collections.abc import Sequence

from runs.core.events import Kind
from runs.core.history import SKEW, History

Waits = Sequence[tuple[float, float]]
"""When a wait was announced, and how long it was to be, in seconds."""


def announced(history: History, agent: str) -> Waits:
    """The waits that this agent announced, in order."""
    return [
        (history.time(event), float(event.get("delay")))
        for event in history.of(Kind.MODEL_RETRY)
        if event.agent == agent and isinstance(event.get("delay"), (int, float))
    ]


def claimed(waits: Waits, start: float, end: float) -> float | None:
    """The wait that was announced for the gap from `start` to `end`; None: none was."""
    found = [wait for at, wait in waits if start - SKEW <= at <= end + SKEW]
    return found[0] if found else None
