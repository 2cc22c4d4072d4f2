"""L11: limits hold, and slots come back."""

from __future__ import annotations

from collections.abc import Iterable

from runs.core.agents import TERMINAL, Run
from runs.core.events import Event, Kind
from runs.core.history import SKEW, History
from runs.core.law import Finding, Law, Thresholds
from runs.core.spawning import Spawn

_OTHERS = ("turn", "token", "budget", "request", "time", "retr", "output")
"""Parts of the names of limits that are not about how many agents run."""


class LimitsHeld(Law):
    """Counts what runs whenever a spawn is asked for, accepted or refused."""

    id = "L11"
    name = "LIMITS-HELD"
    sentence = (
        "Concurrency, depth, turn and budget limits hold; slots return at the terminal; a refusal "
        "is immediate and explicit."
    )
    why = "A slot that never comes back ends delegation for the whole session."
    detected = (
        "A spawn refused for the limit while fewer run than are allowed; more running at once, or "
        "deeper, than the limit says."
    )
    needs = "Refusals with their reason, and the limit (a refusal with nothing running needs none)."
    labels = ("slots_leaked", "limit_exceeded")
    follows = ()

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        width = _limit(history, depth=False)
        deep = _limit(history, depth=True)
        refused = [spawn for spawn in history.spawns if spawn.accepted is False]
        for spawn in refused:
            finding = self._too_deep(history, spawn, deep) or self._refused(history, spawn, width)
            if finding is not None:
                yield finding
        yield from self._exceeded(history, width, deep)

    def _too_deep(self, history: History, spawn: Spawn, deep: Event | None) -> Finding | None:
        """A refusal for the depth at which the asker stands."""
        asker = history.agents.get(spawn.parent)
        if deep is None or asker is None or asker.depth < int(deep.get("value")):
            return None
        return self.holds(
            spawn.parent,
            f"A spawn at depth {asker.depth + 1} was refused; the limit is {deep.get('value')}.",
            spawn.answered,
            deep,
        )

    def _refused(self, history: History, spawn: Spawn, width: Event | None) -> Finding | None:
        answer = spawn.answered
        if answer is None:
            return None
        running = _perhaps_running(history, answer)
        allowed = int(width.get("value")) if width is not None else 1
        if answer.get("refusal") != "limit":
            # Without a stated reason it is the limit only where as many have ever been
            # started as are allowed at once: the picture of slots that do not come back.
            begun = [
                run for run in history.runs if run.start and history.precedes(run.start, answer)
            ]
            if answer.get("refusal") in ("depth", "other") or width is None or len(begun) < allowed:
                return None
        if len(running) >= allowed:
            if width is None:
                return self.unknown(spawn.parent, "How many may run is not known.", answer)
            return self.holds(
                spawn.parent, f"Refused with {len(running)} of {allowed} running.", answer
            )
        unseen = _unseen(history, answer)
        if len(running) + unseen >= allowed:
            return self.unknown(
                spawn.parent, f"The logs of {unseen} that were started before are not here.", answer
            )
        over = [run.end for run in history.runs if run.end and _surely_over(history, run, answer)]
        limit = f"and a limit of {allowed}" if width is not None else "at all"
        return self.broken(
            spawn.parent,
            f"A spawn was refused for the limit with {len(running)} running {limit}; "
            f"{len(over)} had ended.",
            *over,
            answer,
            width,
            label="slots_leaked",
            running=len(running),
            limit=allowed if width is not None else None,
        )

    def _exceeded(
        self, history: History, width: Event | None, deep: Event | None
    ) -> Iterable[Finding]:
        if width is not None:
            allowed = int(width.get("value"))
            for run in history.runs:
                if run.start is None:
                    continue
                running = _running(history, run.start)
                if len(running) > allowed:
                    yield self.broken(
                        history.parent_of(run.agent),
                        f"{len(running)} run at once; the limit is {allowed}.",
                        *[one.start for one in running],
                        width,
                        label="limit_exceeded",
                        running=len(running),
                        limit=allowed,
                    )
                    return
            yield self.holds(history.root, f"Never more than {allowed} ran at once.", width)
        for agent in history.children if deep is not None else ():
            if deep is not None and agent.depth > int(deep.get("value")):
                yield self.broken(
                    agent.parent or history.root,
                    f"{agent.id} runs at depth {agent.depth}; the limit is {deep.get('value')}.",
                    agent.first,
                    deep,
                    label="limit_exceeded",
                    depth=agent.depth,
                )
                return


def _limit(history: History, *, depth: bool) -> Event | None:
    """The limit in force on how many agents run, or on how deep they nest."""
    for event in history.of(Kind.LIMIT):
        name = str(event.get("name") or "").lower()
        value = event.get("value")
        if isinstance(value, bool) or not isinstance(value, (int, float)) or value < 0:
            continue
        if ("depth" in name) is depth and not any(part in name for part in _OTHERS):
            return event
    return None


def _running(history: History, at: Event) -> list[Run]:
    """Runs that are open at that moment, in the whole tree."""
    return [run for run in history.runs if history.is_open(run, at)]


def _perhaps_running(history: History, at: Event) -> list[Run]:
    """Runs that began before and may, by the clocks of two files, not have ended yet."""
    return [
        run
        for run in history.runs
        if run.start is not None
        and history.precedes(run.start, at)
        and not _surely_over(history, run, at)
    ]


def _unseen(history: History, at: Event) -> int:
    """How many were started before whose logs are not here, and that may still run."""
    found = 0
    for one in history.spawns:
        if one.answered is None or not one.accepted or not history.precedes(one.answered, at):
            continue
        runs = history.agents[one.child].runs if one.child in history.agents else []
        found += not any(run.start or _surely_over(history, run, at) for run in runs)
    return found


def _surely_over(history: History, run: Run, at: Event) -> bool:
    """Whether the run had ended by then, whichever clock is late: or its spawner knew it had."""
    ends = [*run.ends, *(note for note in run.notices if note.get("status") in TERMINAL)]
    return any(
        history.place(end) < history.place(at)
        if end.file == at.file or not history.timed
        else history.time(end) + SKEW < history.time(at)
        for end in ends
    )


LAW = LimitsHeld()
