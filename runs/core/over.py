"""Whether a log goes on long enough to prove that a run without a terminal has none."""

from __future__ import annotations

from runs.core.agents import Run
from runs.core.events import Kind
from runs.core.history import History

LONG_TOOL = 3600.0
"""Seconds for which a tool that is still open may keep a run quiet."""


def is_closed(history: History, run: Run) -> bool:
    """Whether a record of the end (shutdown, exit, result, end of capture) follows its start."""
    closing = (Kind.SESSION_ENDED, Kind.PROCESS_EXITED, Kind.CAPTURE_ENDED, Kind.RESULT)
    return run.start is not None and any(history.after(run.start, *closing))


def silent_for(history: History, run: Run, quiet: float) -> bool:
    """Whether its last sign of life, or of an agent below it, is that many seconds old."""
    silent = history.end - history.last_signs.get(run.agent, 0.0)
    if run.agent in history.with_open_tools:
        silent -= LONG_TOOL
    return history.timed and silent > quiet
