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
    alive = {run.agent, *(agent.id for agent in history.descendants(run.agent))}
    signs = [history.time(event) for name in alive for event in history.agents[name].events[-1:]]
    signs += [one.end or one.start for one in history.attempts if one.agent in alive]
    signs += [
        history.time(event)
        for event in history.of(Kind.REGISTRY, Kind.STATUS)
        if alive.intersection(event.get("open") or ())
    ]
    silent = history.end - max(signs, default=0.0)
    if any(one.end is None for name in alive for one in history.tools.get(name, ())):
        silent -= LONG_TOOL
    return history.timed and silent > quiet
