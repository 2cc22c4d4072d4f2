"""One word for how an agent really ended, whatever its terminal says."""

from __future__ import annotations

from typing import Any

from runs.core.agents import Agent, Run
from runs.core.ends import failure_of, gone_from_list, never_ran, shows_work, was_cancelled
from runs.core.events import Kind
from runs.core.history import History


def true_end(history: History, agent: Agent) -> str:
    """One word for how the agent really ended.

    `completed failed cancelled aborted killed ended lost never_ran open`; for the
    agent at the top `finished failed unknown`.
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
    if gone_from_list(history, run):
        return "ended"
    return "never_ran" if never_ran(history, agent) and shows_work(history, agent) else "lost"


def _ended_word(history: History, run: Run) -> str:
    if run.status in ("cancelled", "interrupted"):
        return "aborted" if was_cancelled(history, run) else "cancelled"
    if run.status == "stopped":
        return "ended" if run.ends[0].source == "hooks" else "killed"
    return run.status


def _end_of_root(history: History) -> str:
    last: dict[str, Any] = {}
    for event in history.of(Kind.RESULT):
        last = dict(event.data)
    if last.get("is_error") or last.get("status") == "failed":
        return "failed"
    closed = history.of(Kind.SESSION_ENDED, Kind.RESULT, Kind.PROCESS_EXITED)
    return "finished" if closed else "unknown"
