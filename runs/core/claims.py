"""What an agent claims of its retries: the waits that it announces, next to the gaps that were
measured, and the requests by which its client says of itself that it tries again."""

from __future__ import annotations

from bisect import bisect
from collections.abc import Mapping
from typing import Final

from runs.core.attempts import Call
from runs.core.events import Event, Kind
from runs.core.history import SKEW, History

RETRY_COUNT: Final = "x-stainless-retry-count"
"""The header in which the providers' own client libraries number the tries of a request, from 0."""


def waits_before(history: History, agent: str) -> Mapping[int, float]:
    """The waits that this agent announced, in seconds, by the try that they were to end with
    (the number of its `Attempt.event`).

    An announcement is of the gap that begins nearest to it, and a gap has one: where tries follow
    each other fast, several are announced within what two clocks may differ by.
    """
    gaps = sorted(
        (attempt.start - attempt.gap_before, attempt.start, attempt.event.seq)
        for attempt in history.attempts_by_agent.get(agent, ())
        if attempt.gap_before is not None
    )
    found: dict[int, tuple[float, float]] = {}
    known = history.agents.get(agent)
    for event in known.events if known is not None else history.of(Kind.MODEL_RETRY):
        wait, at = event.get("delay"), history.time(event)
        if event.kind is not Kind.MODEL_RETRY or event.agent != agent:
            continue
        if not isinstance(wait, (int, float)):
            continue
        after = bisect(gaps, (at,))
        near = [
            (abs(at - start), seq)
            for start, end, seq in gaps[max(after - 1, 0) : after + 1]
            if start - SKEW <= at <= end + SKEW
        ]
        if near:
            far, seq = min(near)
            found[seq] = min(found.get(seq, (far, wait)), (far, float(wait)))
    return {seq: wait for seq, (_, wait) in found.items()}


def counted(call: Call) -> int | None:
    """How many of the call's requests say that they are a retry; None: none does."""
    found = sum(_number(attempt.received) > 0 for attempt in call.attempts)
    return found or None


def _number(event: Event | None) -> int:
    headers = event.get("headers") if event is not None else None
    told = headers.get(RETRY_COUNT) if isinstance(headers, Mapping) else None
    return int(told) if isinstance(told, str) and told.isdecimal() and len(told) < 10 else 0
