"""How long a parent that could have been told of an end was not."""

from __future__ import annotations

from runs.core.agents import Run
from runs.core.events import Event
from runs.core.history import History


def seconds_untold(history: History, run: Run, note: Event) -> float:
    """Seconds from the run's end to this word of it, without the parent's own tool calls.

    Word of a batch, which its agent gives once for all, is due when the last of them has ended.
    """
    if not history.timed:
        return 0.0
    start, end = history.time(run.ends[0]), history.time(note)
    for other in history.runs:
        if other.ends and note.get("batch") and _told_with(other, note):
            start = max(start, min(history.time(other.ends[0]), end))
    busy = 0.0
    for one in history.tools.get(note.agent, ()):
        stop = history.time(one.end) if one.end is not None else history.end
        busy += max(0.0, min(stop, end) - max(history.time(one.start), start))
    return max(0.0, end - start - busy)


def _told_with(run: Run, note: Event) -> bool:
    """Whether the parent was told of that run by the same batch."""
    return any(one.get("batch") == note.get("batch") for one in run.notices)
