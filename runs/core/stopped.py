"""A run that was stopped from outside: it failed at nothing, and it has not answered."""

from __future__ import annotations

from runs.core.agents import Run
from runs.core.cancels import asked_to_cancel
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.signs import is_good

STOPPED = frozenset({"cancelled", "interrupted", "stopped"})


def was_cancelled(history: History, run: Run) -> bool:
    """Whether its own log says that it was aborted."""
    return any(_is_abort(event) for event in history.events_of(run))


def stopped_midway(history: History, run: Run) -> Event | None:
    """The abort with which its own log closes, of a run that somebody asked to stop.

    What it had said by then is no answer, whatever another calls its end.
    """
    if run.status not in STOPPED or not asked_to_cancel(history, run):
        return None
    found: Event | None = None
    for event in history.events_of(run):
        if _is_abort(event):
            found = event
        elif is_good(event):
            found = None
    return found


def _is_abort(event: Event) -> bool:
    return event.kind is Kind.ERROR and event.get("error_class") == "aborted"
