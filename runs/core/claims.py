"""What an agent claims of its retries: the waits that it announces, next to the gaps that were
measured, and the requests by which its client says of itself that it tries again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from runs.core.attempts import Call
from runs.core.events import Event, Kind
from runs.core.history import SKEW, History

RETRY_COUNT: Final = "x-stainless-retry-count"
"""The header in which the providers' own client libraries number the tries of a request, from 0."""
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


def counted(call: Call) -> int | None:
    """How many of the call's requests say that they are a retry; None: none does."""
    found = sum(_number(attempt.received) > 0 for attempt in call.attempts)
    return found or None


def _number(event: Event | None) -> int:
    headers = event.get("headers") if event is not None else None
    told = headers.get(RETRY_COUNT) if isinstance(headers, Mapping) else None
    return int(told) if isinstance(told, str) and told.isdecimal() and len(told) < 10 else 0
