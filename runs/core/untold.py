"""How long a parent that could have been told of an end was not, and who could not be."""

from __future__ import annotations

from collections import defaultdict

from runs.core.agents import Run
from runs.core.ends import closing_answer
from runs.core.events import Event, Kind
from runs.core.history import History


class Untold:
    """The seconds in which parents could have been told, of one history."""

    def __init__(self, history: History) -> None:
        self._history = history
        self._batches: dict[str, float] = {}
        """By batch of which a parent was told when the last of its runs ended."""
        self._asked: dict[str, set[str]] = defaultdict(set)
        """By call that asks for what became of sub-agents whom it asked for."""
        self._busy_of: dict[str, list[tuple[float, float, str]]] = {}
        accepted = [one for one in history.spawns if one.accepted is not False]
        self._all_known = bool(accepted) and all(one.child in history.agents for one in accepted)
        for run in history.runs:
            for note in run.notices:
                if note.get("form") == "poll":
                    self._asked[str(note.get("call") or "")].add(run.agent)
                name = str(note.get("batch") or "")
                if name and run.ends:
                    end = history.time(run.ends[0])
                    self._batches[name] = max(self._batches.get(name, end), end)

    def seconds(self, run: Run, note: Event) -> float:
        """Seconds from the run's end to this word of it in which its parent could have been told.

        In a tool, a question or a model call of its own it cannot; in a call that waits for this
        very run it could. Word of a batch, which its agent gives once for all, is due when the
        last of them has ended.
        """
        history = self._history
        if not history.timed:
            return 0.0
        start, end = history.time(over_with(history, run)), history.time(note)
        start = max(start, min(self._batches.get(str(note.get("batch") or ""), start), end))
        spawn = history.agents[run.agent].spawn
        free, cursor = 0.0, start
        for begin, stop, call in self._busy(note.agent) if end > start else ():
            mine = spawn is not None and call == spawn.call or self._asked.get(call) == {run.agent}
            if call and mine:
                continue
            free += max(0.0, min(begin, end) - cursor)
            cursor = max(cursor, min(stop, end))
        return free + max(0.0, end - cursor)

    def asked_by_nobody(self, run: Run) -> bool:
        """Whether only its own log speaks of it, and each spawn that is seen made another."""
        agent = self._history.agents[run.agent]
        alone = agent.edge is None and agent.spawn is None and not run.queued
        return alone and self._all_known

    def _busy(self, agent: str) -> list[tuple[float, float, str]]:
        """When an agent was in a tool, a question or a model call, and which call that was."""
        if agent in self._busy_of:
            return self._busy_of[agent]
        history = self._history
        found = [
            (
                history.time(one.start),
                history.time(one.end) if one.end is not None else history.end,
                str(one.start.get("call") or ""),
            )
            for one in (*history.tools.get(agent, ()), *history.questions.get(agent, ()))
        ]
        for call in history.calls_of(agent) if history.clocks_agree else ():
            for one in call.attempts:
                found.append((one.start, history.end if one.end is None else one.end, ""))
        begun = None
        known = history.agents.get(agent)
        for event in known.events if known is not None else ():
            if event.kind is Kind.MODEL_STARTED:
                begun = history.time(event)
            elif event.kind is Kind.MODEL_ENDED and begun is not None:
                found.append((begun, history.time(event), ""))
                begun = None
        return self._busy_of.setdefault(agent, sorted(found))


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


def had_failed(history: History, run: Run) -> bool:
    """Whether its parent was in its last model call when it ended, and that call failed it."""
    calls = history.calls_of(parent := history.parent_of(run.agent))
    ends = [one for one in history.of(Kind.TURN_ENDED, Kind.RESULT) if one.agent == parent]
    if not calls or not ends:
        return False
    if ends[-1].get("status") != "failed" and ends[-1].get("is_error") is not True:
        return False
    return calls[-1].failed and calls[-1].attempts[0].start <= history.time(run.ends[0])
