"""L15: a spawn that is acknowledged is followed by a child that works."""

from __future__ import annotations

from collections.abc import Iterable

from runs.core.agents import Agent
from runs.core.ends import QUIET, never_ran, shows_work
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Law, Thresholds
from runs.core.spawning import Spawn


class TrueAck(Law):
    """Waits, after each acknowledgement, for the child's first model request."""

    id = "L15"
    name = "TRUE-ACK"
    sentence = (
        "A spawn call returns in bounded time, and after a positive answer the child's first "
        "provider request follows within T."
    )
    why = "A parent that waits for a child that was never born waits for nothing."
    detected = (
        "A spawn without an answer and without a child; an acknowledged child without a request "
        "for T, or one whose own log begins its first turn later than that. Unlike a slow "
        "provider there is nothing to wait for."
    )
    needs = "The spawn's answer, and the provider's log or the child's own records."
    labels = ("dead_spawn",)
    follows = ("L1", "L5", "L3", "L4", "L16", "L8")
    parameters = ("start_within", "answer_within")

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        for spawn in history.spawns:
            child = history.agents.get(spawn.child)
            if spawn.accepted is False:
                continue
            if child is None:
                yield from self._hanging(history, spawn, thresholds.answer_within)
            else:
                yield self._child(history, child, spawn, thresholds.start_within)
        spawned = {spawn.child for spawn in history.spawns}
        for agent in history.children:
            if agent.id not in spawned and agent.runs and agent.runs[0].start is not None:
                yield self._child(history, agent, None, thresholds.start_within)

    def _hanging(self, history: History, spawn: Spawn, limit: float) -> Iterable[Finding]:
        if spawn.asked is None or spawn.answered is not None:
            return
        waited = history.end - history.time(spawn.asked)
        if spawn.get("background") is False or not history.timed:
            return
        if not history.closed or waited <= limit:
            yield self.unknown(spawn.parent, f"A spawn has waited for {waited:.1f} s.", spawn.asked)
            return
        yield self.broken(
            spawn.parent,
            f"A spawn call has no answer and no child after {waited:.0f} s (limit {limit:.0f} s).",
            spawn.asked,
            history.end_record,
            label="dead_spawn",
            waited=round(waited, 3),
            limit=limit,
        )

    def _child(self, history: History, child: Agent, spawn: Spawn | None, limit: float) -> Finding:
        answer = spawn.answered if spawn is not None else None
        told = answer or child.first
        if told is None or not history.timed:
            return self.unknown(child.id, "When it was acknowledged is not to be seen.")
        calls = history.calls_of(child.id)
        if calls:
            return self._first_request(history, child, told, calls[0].attempts[0].start, limit)
        if not never_ran(history, child):
            begun = _asks_from(child)
            waited = history.time(begun) - history.time(told) if begun is not None else 0.0
            if begun is None or waited <= limit or _was_loaded_again(history, told, begun):
                return self.holds(child.id, "It works, by its own records.", told)
            return self.broken(
                child.id,
                f"Its own log has it begin {waited:.0f} s after the acknowledgement "
                f"(limit {limit:.0f} s).",
                told,
                begun,
                label="dead_spawn",
                waited=round(waited, 3),
                limit=limit,
            )
        waited = history.end - history.time(told)
        if not history.closed or waited <= limit or _over_early(history, told, limit):
            return self.unknown(
                child.id, f"Nothing of it within {waited:.0f} s; {limit:.0f} s are allowed.", told
            )
        if not _would_show(history, child, told):
            return self.unknown(child.id, "Its model calls are not to be seen.", told)
        return self.broken(
            child.id,
            f"It was acknowledged and made no model request in {waited:.0f} s "
            f"(limit {limit:.0f} s).",
            told,
            *child.events[-2:],
            history.end_record,
            label="dead_spawn",
            waited=round(waited, 3),
            limit=limit,
        )

    def _first_request(
        self, history: History, child: Agent, told: Event, first: float, limit: float
    ) -> Finding:
        waited = first - history.time(told)
        if waited <= limit:
            return self.holds(
                child.id, f"Its first request came {max(waited, 0.0):.1f} s later.", told
            )
        return self.broken(
            child.id,
            f"Its first request came {waited:.0f} s after the acknowledgement "
            f"(limit {limit:.0f} s).",
            told,
            history.calls_of(child.id)[0].attempts[0].event,
            label="dead_spawn",
            waited=round(waited, 3),
            limit=limit,
        )


def _asks_from(child: Agent) -> Event | None:
    """The record before which it surely asked no model: the begin of its first turn, else its
    task; None where its log shows neither before its first work."""
    found: Event | None = None
    for event in child.events:
        if event.kind not in QUIET:
            break
        if event.kind is Kind.TURN_STARTED or (event.kind is Kind.USER_MESSAGE and found is None):
            found = event
    return found


def _was_loaded_again(history: History, told: Event, begun: Event) -> bool:
    return bool(history.between(told, begun, Kind.SESSION_RESUMED))


def _over_early(history: History, told: Event, limit: float) -> bool:
    """Whether the session was over before the child's time was up."""
    over = history.of(Kind.SESSION_ENDED, Kind.PROCESS_EXITED)
    return bool(over) and history.time(over[-1]) - history.time(told) <= limit


def _would_show(history: History, child: Agent, told: Event) -> bool:
    """Whether requests of the child, or its own work, would be seen if there were any.

    Where each agent has a file of its own, one that is not here proves nothing.
    """
    said = [event for event in child.events if event.kind is Kind.STATUS]
    if said and said[-1].get("status") == "starting":
        return True  # by the runtime's own word it has not begun
    unknown_callers = any(
        one.caller.startswith(("child", "grandchild")) and not one.agent for one in history.attempts
    )
    if unknown_callers or shows_work(history, child):
        return not unknown_callers
    siblings = [
        agent
        for agent in history.children
        if agent.id not in (child.id, *history.ancestors(child.id))
        and agent.events
        and not never_ran(history, agent)
    ]
    return any(
        event.kind in (Kind.AGENT_MESSAGE, Kind.TOOL_STARTED, Kind.TURN_STARTED)
        for agent in siblings
        for event in agent.events
        if event.file == told.file and not _is_last_word(agent, event)
    )


def _is_last_word(agent: Agent, event: Event) -> bool:
    """Whether it stands in the record of an end: that shows no work, only what came of it."""
    return any(
        (end.file, end.line) == (event.file, event.line) for run in agent.runs for end in run.ends
    )


LAW = TrueAck()
