"""One word for how an agent really ended, whatever its terminal says."""

from __future__ import annotations

from typing import Any

from runs.core.agents import Agent, Run
from runs.core.ends import failure_of, never_ran, shows_work
from runs.core.events import Kind
from runs.core.history import History
from runs.core.law import Thresholds
from runs.core.over import is_closed, silent_for
from runs.core.published import gone_from_list
from runs.core.stopped import was_cancelled


def true_end(history: History, agent: Agent, thresholds: Thresholds | None = None) -> str:
    """One word for how the agent really ended.

    `completed failed cancelled aborted killed ended lost never_ran open`; for the
    agent at the top `finished failed unknown`. By the thresholds it is told how long a run may
    be silent before it counts as lost (the defaults where none are given).
    """
    if agent.id == history.root:
        return _end_of_root(history)
    if not agent.runs:
        return "unknown"
    run = agent.runs[-1]
    if run.status in ("cancelled", "interrupted"):
        return _ended_word(history, run)
    if failure_of(history, run) is not None:
        return "failed"
    if run.ends:
        return _ended_word(history, run)
    if not history.complete:
        return "open"
    if agent.events and agent.events[-1].kind is Kind.ABORTED:
        return "aborted"
    if gone_from_list(history, run) and not history.between(run.start, None, Kind.SESSION_RESUMED):
        return "ended"
    limits = thresholds or Thresholds()
    if not is_closed(history, run) and not silent_for(history, run, limits.stall_after):
        return "open"
    return "never_ran" if never_ran(history, agent) and shows_work(history, agent) else "lost"


def _ended_word(history: History, run: Run) -> str:
    if run.status in ("cancelled", "interrupted"):
        return "aborted" if was_cancelled(history, run) else "cancelled"
    words = [str(end.get("status")) for end in run.ends if end.source != "hooks"]
    if run.status == "stopped" and not words:
        return "ended"  # all that hooks know
    word = words[0] if words else run.status
    return "killed" if word == "stopped" else word


def _end_of_root(history: History) -> str:
    last: dict[str, Any] = {}
    for event in history.of(Kind.RESULT):
        last = dict(event.data)
    if last.get("is_error") or last.get("status") == "failed":
        return "failed"
    closed = history.of(Kind.SESSION_ENDED, Kind.RESULT, Kind.PROCESS_EXITED)
    return "finished" if closed else "unknown"
