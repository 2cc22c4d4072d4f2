"""How long a parent that could have been told of an end was not."""

from __future__ import annotations

from collections.abc import Mapping

from runs.core.agents import Run
from runs.core.ends import closing_answer
from runs.core.events import Event, Kind
from runs.core.history import History


def ends_of_batches(history: History) -> dict[str, float]:
    """By batch of which a parent was told when the last of its runs ended."""
    found: dict[str, float] = {}
    for run in history.runs:
        for name in {str(one.get("batch") or "") for one in run.notices if run.ends} - {""}:
            end = history.time(run.ends[0])
            found[name] = max(found.get(name, end), end)
    return found


def over_with(history: History, run: Run) -> Event:
    """The record with which the run was over: its terminal, or the answer that its own log closes
    with, where the terminal is but the word of it to its parent.

    A job in the background may hold that word back.
    """
    end = run.ends[0]
    words = {(note.file, note.line) for note in (*run.queued, *run.notices)}
    if run.status != "completed" or (end.file, end.line) not in words:
        return end
    said = closing_answer(history, run, end)
    if said is None or said.file == end.file:
        return end
    held = history.between(said, end, Kind.SESSION_RESUMED)
    jobs = any(one.start.get("background") for one in history.tools.get(run.agent, ()))
    return end if held or jobs else said


def seconds_untold(history: History, run: Run, note: Event, batches: Mapping[str, float]) -> float:
    """Seconds from the run's end to this word of it, without the parent's own tool calls.

    Word of a batch, which its agent gives once for all, is due when the last of them has ended
    (see :func:`ends_of_batches`).
    """
    if not history.timed:
        return 0.0
    start, end = history.time(over_with(history, run)), history.time(note)
    start = max(start, min(batches.get(str(note.get("batch") or ""), start), end))
    busy = 0.0
    for one in history.tools.get(note.agent, ()):
        stop = history.time(one.end) if one.end is not None else history.end
        busy += max(0.0, min(stop, end) - max(history.time(one.start), start))
    return max(0.0, end - start - busy)
