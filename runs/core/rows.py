"""The rows that people read first: agents, attempts, and retries claimed against measured."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any

from runs.core.agents import Agent, Run, tells_end
from runs.core.attempts import Attempt, Call
from runs.core.cancels import asked_to_cancel
from runs.core.claims import counted, waits_before
from runs.core.ends import failure_of
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Thresholds
from runs.core.schema import AgentRow, AttemptRow, RetryRow
from runs.core.true_end import true_end

VIEWS = ("stdout", "session", "log", "hooks", "trace", "bus", "rpc", "acp")
"""Views that can hold a terminal of an agent; `stdout` and `session` are always shown."""


def agent_rows(history: History, thresholds: Thresholds | None = None) -> list[AgentRow]:
    """One row for each agent, parents before their children."""
    callers = {agent: caller for caller, agent in history.callers.items()}
    told = history.of(Kind.AGENT_STARTED, Kind.AGENT_ENDED)
    telling = {place.source for event in told for place in event.sightings}
    return [
        _agent_row(history, agent, callers.get(agent.id), telling, thresholds)
        for agent in history.in_order
    ]


def _refs(run: Run, views: Iterable[str]) -> dict[str, str]:
    """Where the run's first terminal of each view stands in that view."""
    found: dict[str, str] = {}
    for view in views:
        for event in run.ends_in(view)[:1]:
            found[view] = next(place.ref for place in event.sightings if place.source == view)
    return found


def _agent_row(
    history: History,
    agent: Agent,
    caller: str | None,
    telling: Collection[str],
    thresholds: Thresholds | None,
) -> AgentRow:
    last = agent.runs[-1] if agent.runs else None
    views = [view for view in VIEWS if view in ("stdout", "session") or view in telling]
    terminal = {view: _terminal(history, agent, view) for view in views}
    refs = _refs(last, views) if last is not None else {}
    failure = failure_of(history, last) if last is not None else None
    start = agent.first
    return AgentRow(
        id=agent.id,
        caller=caller,
        parent=agent.parent,
        role=agent.role,
        name=agent.name,
        background=agent.background,
        terminal=terminal,
        terminal_refs=refs,
        told=_told(history, agent),
        wire=wire(history.calls_of(agent.id)),
        true_end=true_end(history, agent, thresholds),
        error_class=failure.error_class if failure else "",
        started=_time(history, start),
        ended=_time(history, last.end if last is not None else None),
        runs=len(agent.runs),
    )


def _terminal(history: History, agent: Agent, view: str) -> str:
    """The terminal of its last run there, or of the last one that the view names.

    A view that calls a run that was cancelled on request but stopped says the same.
    """
    named = [run for run in agent.runs if run.terminal(view) != "none"]
    if not named:
        return "none"
    word = named[-1].terminal(view)
    if word == "stopped" and view != "hooks" and asked_to_cancel(history, named[-1]):
        return "cancelled"
    return word


def _told(history: History, agent: Agent) -> dict[str, Any] | None:
    """What the parent was told of the run whose terminal the row shows."""
    ended = [run for run in agent.runs if run.ends or run.notices]
    notices = [note for run in ended[-1:] for note in run.notices if tells_end(note)]
    if not notices:
        return None
    first = notices[0]
    return {
        "status": first.get("status"),
        "raw": first.get("raw"),
        "form": first.get("form"),
        "t": _time(history, first),
        "ref": first.ref,
        "times": len(notices),
    }


def _time(history: History, event: Event | None) -> float | None:
    return None if event is None or event.t is None else history.time(event)


def wire(calls: Iterable[Call]) -> dict[str, int]:
    """What the provider saw: calls, attempts, and how many attempts failed, ended well, hang."""
    tries = [attempt for call in calls for attempt in call.attempts]
    opened = sum(attempt.open for attempt in tries)
    whole = sum(attempt.complete for attempt in tries)
    return {
        "calls": len({(attempt.caller, attempt.call) for attempt in tries}),
        "attempts": len(tries),
        "failed": len(tries) - whole - opened,
        "complete": whole,
        "open": opened,
    }


def attempt_rows(history: History) -> list[AttemptRow]:
    """Every attempt that the provider saw, by start."""
    waits: dict[str, Mapping[int, float]] = {}
    for attempt in history.attempts:
        if attempt.agent not in waits:
            waits[attempt.agent] = waits_before(history, attempt.agent)
    return [_attempt_row(attempt, waits[attempt.agent]) for attempt in history.attempts]


def _attempt_row(attempt: Attempt, waits: Mapping[int, float]) -> AttemptRow:
    first = attempt.received or attempt.event
    return AttemptRow(
        caller=attempt.caller,
        agent=attempt.agent,
        call=attempt.call,
        n=attempt.n,
        start=attempt.start,
        first_byte=attempt.first_byte,
        end=attempt.end,
        http_status=attempt.http_status,
        fault=attempt.fault,
        closed="open" if attempt.open else attempt.closed,
        complete=attempt.complete,
        gap_before=attempt.gap_before,
        claimed=waits.get(attempt.event.seq),
        retry_after=attempt.retry_after,
        bytes=attempt.bytes,
        events=attempt.events,
        model=attempt.model,
        seq=first.seq,
        end_seq=attempt.ended.seq if attempt.ended else None,
        request=attempt.request,
    )


def retry_row(history: History) -> RetryRow:
    """Retries claimed and measured, of the first failing sub-agent, else of the first agent."""
    call = _call_in_question(history)
    agent = call.agent if call else ""
    claim = _claim(history, agent) or {"retries": counted(call) if call else None}
    gaps = call.gaps if call else []
    return RetryRow(
        reported={"retries": claim.get("retries"), "sleep": claim.get("sleep")},
        reasons=_reasons(history, agent),
        measured={
            "agent": agent,
            "caller": call.caller if call else None,
            "retries": len(call.attempts) - 1 if call else 0,
            "gaps": gaps,
            "total": round(sum(gaps), 6),
        },
    )


def _call_in_question(history: History) -> Call | None:
    """The failed call with the most attempts of a sub-agent; else the most retried call."""
    children = [call for call in history.calls if call.agent and call.agent != history.root]
    unknown = [call for call in history.calls if not call.agent and call.caller.startswith("child")]
    below = children or unknown
    failing = [call for call in below if call.failed and not call.last.open]
    if failing:
        agent = failing[0].caller
        return max(
            (call for call in failing if call.caller == agent), key=lambda one: len(one.attempts)
        )
    for calls in (below, history.calls):
        if calls:
            return max(calls, key=lambda one: len(one.attempts))
    return None


def _claim(history: History, agent: str) -> dict[str, Any]:
    """The first retry claim of that agent, else of anybody."""
    claims = history.of(Kind.RETRY_CLAIM)
    mine = [event for event in claims if event.agent == agent]
    return dict((mine or claims)[0].data) if claims else _announced(history, agent)


def _reasons(history: History, agent: str) -> list[str]:
    """The reasons that the agent gave for its retries, each once, in its own words."""
    given = (event.get("reason") for event in history.of(Kind.MODEL_RETRY) if event.agent == agent)
    return list(dict.fromkeys(str(reason) for reason in given if reason))


def _announced(history: History, agent: str) -> dict[str, Any]:
    """Where nothing is claimed afterwards: the retries that the agent announced, in one view."""
    views: dict[str, list[Event]] = {}
    for event in history.of(Kind.MODEL_RETRY):
        if event.agent == agent:
            views.setdefault(event.file, []).append(event)
    told = max(views.values(), key=len, default=[])
    if not told:
        return {}
    delays = [event.get("delay") for event in told]
    sleep = None if None in delays else round(sum(map(float, delays)), 6)
    return {"retries": len(told), "sleep": sleep}
