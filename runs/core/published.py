"""What a view publishes: whether it shows ends, goes on after one, or leaves an agent out."""

from __future__ import annotations

from runs.core.agents import Agent, Run
from runs.core.events import Event, Kind
from runs.core.history import SKEW, History


def shows_ends(history: History, view: str) -> bool:
    """Whether that view is one that shows ends at all (hooks do; others where one was seen)."""
    if view in ("hooks", "stdout", "session"):
        return True
    return any(event.seen_in(view) for event in history.of(Kind.AGENT_ENDED))


def later_in(history: History, view: str, end: Event) -> Event | None:
    """A record of the view that is surely later than the end; else the exit of the program, but
    not for its output, which may have been cut before that.
    """
    for event in reversed(history.events):
        if event.seen_in(view) and event.agent != end.agent:
            later = history.time(event) > history.time(end) + SKEW if history.timed else True
            if later and history.place(event) > history.place(end):
                return event
            exits = history.of(Kind.PROCESS_EXITED) if view != "stdout" else []
            return exits[-1] if exits else None
    return None


def left_out_of_hooks(history: History, run: Run) -> tuple[Event, Event, Event] | None:
    """Its start, the start of a run of the same role that hooks publish, and a later hook.

    None where they need not show it: they begin or end too early, or are bound to other roles,
    as they may be where a role is not said.
    """
    agent = history.agents[run.agent]
    answered = agent.spawn.answered if agent.spawn is not None else None
    start = run.start or answered
    if start is None or not history.closed or not history.timed:
        return None
    if "hooks" in history.views_of(run.agent) or history.may_have_lost(run):
        return None
    role = _role(agent, start)
    like = history.hooked_roles.get(role)
    if not role or like is None:
        return None
    first, later = history.hooks[0], history.hooks[-1]
    since, until = history.time(first) + SKEW, history.time(later) - SKEW
    return (start, like, later) if since <= history.time(start) < until else None


def _role(agent: Agent, start: Event) -> str:
    """What it was asked to be."""
    asked = agent.spawn.get("role") if agent.spawn is not None else None
    return str(start.get("role") or asked or "")


def gone_from_list(history: History, run: Run, before: Event | None = None) -> bool:
    """Whether the last list that hooks hand out, after the start, says that it runs no more."""
    until = None if before is None else history.place(before)
    after = [one for one in lists_of(history, run) if until is None or history.place(one) < until]
    return bool(after) and run.agent not in after[-1].get("open")


def lists_of(history: History, run: Run) -> list[Event]:
    """The lists that hooks hand out after the run's start and that would have it if it ran.

    They are of what runs in the background: a run that may be in the foreground is on none of
    them, and it surely is over only when its parent stops.
    """
    top = (history.ancestors(run.agent) or [history.root])[-1]
    found = [
        event
        for event in history.between(run.start, None, Kind.REGISTRY, Kind.STATUS)
        if event.get("open") is not None and event.seen_in("hooks") and event.agent == top
    ]
    listed = any(run.agent in event.get("open") for event in found)
    if history.agents[run.agent].background is True or listed:
        return found
    stops = {(one.file, one.line) for one in found if one.kind is Kind.STATUS}
    return [event for event in found if (event.file, event.line) in stops]
