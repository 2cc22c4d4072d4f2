"""Which cancels mean a run, found without a look at all the others."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from runs.core.agents import Run
from runs.core.events import Event, Kind
from runs.core.history import SKEW, History


def asked_to_cancel(history: History, run: Run) -> bool:
    """Whether a cancel or an abort that means this run, or one above it, came before its end."""
    until = history.time(run.ends[0]) + SKEW
    return any(
        history.precedes(event, run.ends[0])
        for name in history.stops.keys() & {"", "all", run.agent, *history.ancestors(run.agent)}
        for event in _named(history, name, float("-inf"), until)
    )


def reaches(history: History, event: Event, run: Run) -> bool:
    """Whether a cancel means this run: it, or one above it, and the run was open then."""
    target = str(event.get("target") or "")
    named = target in ("", "all", run.agent, history.root) or target in history.ancestors(run.agent)
    if not named or run.start is None or not history.precedes(run.start, event):
        return False
    # By the clocks of two files, a run that the cancel ended may seem to have ended before it.
    gone = history.time(event) - SKEW
    return not any(
        history.time(end) < gone or (end.file == event.file and history.precedes(end, event))
        for end in run.ends
    )


def first_request(history: History, run: Run) -> Event | None:
    """The first cancel that reaches the run.

    A cancel of our own run kills the whole process; that is no request to the agent.
    """
    if run.start is None:
        return None
    since = history.time(run.start) - SKEW
    until = min((history.time(end) for end in run.ends), default=float("inf")) + SKEW
    found = []
    names = {"", "all", run.agent, history.root, *history.ancestors(run.agent)}
    for name in history.stops.keys() & names:
        for event in _named(history, name, since, until):
            ours = event.kind is not Kind.CANCEL_REQUESTED or event.source == "harness"
            if not ours and reaches(history, event, run):
                found.append(event)
                break
    return min(found, key=history.place, default=None)


def _named(history: History, name: str, since: float, until: float) -> Iterator[Event]:
    """The cancels and aborts between two times that name this agent."""
    events = history.stops[name]
    for event in events[bisect_left(events, since, key=history.time) :]:
        if history.time(event) > until:
            return
        yield event
