"""What an open run is doing right now, in a few words, from its newest stored events.

"attempt 3 of 6, next in 1.0 s", "silent 41 s of 180 s", "2nd in the queue". Reads at
most a handful of rows; only open runs are ever asked.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from django.utils import timezone

from runs import start, words
from runs.models import Event, Run

QUIET_AFTER = 5.0
"""Seconds without content after which a row says that the run is silent."""
_CONTENTLESS = ("process.sample", "run.phase")
_RETRIES = ("request.received", "model.retry", "session.status")


@dataclass(frozen=True, slots=True)
class Pulse:
    """`words` for the row; `since` and `limit` (epoch seconds, seconds) let the page count on."""

    words: str
    since: float | None = None
    limit: float | None = None
    until: float | None = None
    """Epoch seconds of the announced next attempt."""


def pulse(run: Run, *, workers: int | None = None) -> Pulse:
    """The state of an open run; empty words for a closed one."""
    if run.status == Run.Status.QUEUED:
        return Pulse(_queued(run, len(start.workers()) if workers is None else workers))
    if run.status != Run.Status.RUNNING:
        return Pulse("")
    if run.cancel_at:
        return Pulse("cancelling")
    if run.started_at is None:
        return Pulse(run.phase)
    return _retrying(run) or _silent(run) or Pulse(run.phase or "running")


def _queued(run: Run, workers: int) -> str:
    place = start.position(run)
    where = "next in the queue" if place <= 1 else f"{ordinal(place)} in the queue"
    where = run.phase or where
    return where if workers else f"{where}, but no worker is listening"


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `3rd`, `11th`."""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{ {1: 'st', 2: 'nd', 3: 'rd'}.get(number % 10, 'th') }"


def _now(run: Run) -> float:
    assert run.started_at is not None
    return (timezone.now() - run.started_at).total_seconds()


def _retrying(run: Run) -> Pulse | None:
    newest = Event.objects.filter(run=run, kind__in=_RETRIES).order_by("-seq")[:20]
    attempt = of = None
    for event in newest:
        data = event.data
        if event.kind == "request.received":
            attempt = attempt or data.get("attempt")
            break
        next_at = data.get("next_at")
        if event.kind == "model.retry" and next_at is None and event.t is not None:
            next_at = _epoch(run) + event.t + float(data.get("delay") or 0)
        of = of or data.get("of")
        if event.kind == "model.retry" or data.get("status") == "retrying":
            left = float(next_at or 0) - time.time()
            which = _attempt_words(data.get("attempt"), of)
            if left > 0:
                return Pulse(f"{which}, next in {words.seconds(left)}", until=float(next_at))
            attempt = attempt or data.get("attempt")
    if isinstance(attempt, int) and attempt > 1:
        return Pulse(_attempt_words(attempt, of))
    return None


def _attempt_words(attempt: object, of: object) -> str:
    return f"attempt {attempt or '?'}" + (f" of {of}" if of else "")


def _silent(run: Run) -> Pulse | None:
    newest = (
        Event.objects.filter(run=run, t__isnull=False)
        .exclude(kind__in=_CONTENTLESS)
        .order_by("-seq")
        .values_list("t", flat=True)
        .first()
    )
    quiet = _now(run) - (newest or 0.0)
    if quiet < QUIET_AFTER:
        return None
    deadline = float(run.snapshot.get("guards", {}).get("deadline") or 0)
    limit = deadline - (newest or 0.0) if deadline else None  # how long it can stay silent
    of = f" of {limit:.0f} s" if limit else ""
    return Pulse(f"silent {quiet:.0f} s{of}", _epoch(run) + (newest or 0.0), limit)


def _epoch(run: Run) -> float:
    return run.started_at.timestamp() if run.started_at else 0.0
