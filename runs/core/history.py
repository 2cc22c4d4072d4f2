"""The history of a run: all its events in order, and the questions that laws ask of it.

Built once from numbered events, read by laws, timeline, outcome and diagnosis.
Mirrored sightings (``seen.again``) are folded into the event that they repeat.
Order is by time and number; an event of a source without times stands where its
neighbours in the same file stand.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable
from functools import cached_property

from runs.core.agents import Run
from runs.core.attempts import Attempt, Call, attempts, calls
from runs.core.callers import assign
from runs.core.covered import Covered
from runs.core.events import Event, Kind
from runs.core.family import Family
from runs.core.order import Interval, intervals
from runs.core.spawning import Spawn, spawns

SKEW = 0.25
"""Seconds by which records of two sources may be out of order without meaning anything."""
LOADING = 5.0
"""Seconds before the word of a restart in which records are the restart's own."""
_LOSSY = frozenset(
    {"half-line", "glued", "invalid-utf8", "nul", "truncated", "not-json", "too-long", "too-deep"}
)


class History(Family):
    """Everything that is known about one run, in order.

    `complete`: nothing happened after the last record of any source (a run that
    still goes on, and a log that its owner calls incomplete, is not complete).
    None means: complete, unless a file is known to be cut.
    """

    def __init__(self, events: Iterable[Event], *, complete: bool | None = None) -> None:
        super().__init__(events)
        self._seen: dict[str, tuple[frozenset[str], frozenset[str]]] = {}
        self.complete = self._is_complete() if complete is None else complete

    def _is_complete(self) -> bool:
        return not any(event.get("what") == "truncated" for event in self.damage)

    @cached_property
    def cut_short(self) -> Event | None:
        """The guard or cancel by which we ended the run; what is missing then proves nothing."""
        ours = [
            event
            for event in self.of(Kind.GUARD, Kind.CANCEL_REQUESTED)
            if event.kind is Kind.GUARD or event.source == "harness"
        ]
        return ours[0] if ours else None

    @property
    def closed(self) -> bool:
        """Whether what the history lacks did not happen: it is complete and ended by itself."""
        return self.complete and self.cut_short is None

    def seen_only_in(self, agent: str, *sources: str) -> bool:
        """Whether all that is known of the agent comes from these views."""
        return self.views_of(agent) <= set(sources)

    def views_of(self, agent: str) -> frozenset[str]:
        """The views in which anything of the agent was seen."""
        return self._seen_of(agent)[0]

    def files_of(self, agent: str) -> frozenset[str]:
        """The files in which the agent's own events stand first."""
        return self._seen_of(agent)[1]

    def _seen_of(self, agent: str) -> tuple[frozenset[str], frozenset[str]]:
        found = self._seen.get(agent)
        if found is None:
            events = self.agents[agent].events if agent in self.agents else []
            views = {event.source for event in events}
            views |= {place.source for event in events for place in event.also}
            found = frozenset(views), frozenset(event.file for event in events)
            self._seen[agent] = found
        return found

    @cached_property
    def end_record(self) -> Event | None:
        """The record that closes the history: shutdown, exit or end of capture, else the last."""
        closing = self.of(Kind.SESSION_ENDED, Kind.PROCESS_EXITED, Kind.CAPTURE_ENDED, Kind.RESULT)
        return closing[-1] if closing else self.last

    # Damage

    @cached_property
    def damage(self) -> list[Event]:
        """What is wrong with the files, repaired or not."""
        return self.of(Kind.DAMAGE)

    @cached_property
    def losses(self) -> list[Event]:
        """Damage by which something may have been lost."""
        return [
            event
            for event in self.damage
            if not event.get("repaired")
            and event.get("what") != "time-backwards"
            and (event.get("lost") or event.get("what") in _LOSSY)
        ]

    @cached_property
    def wrong_times(self) -> list[Event]:
        """Lines whose time is not to be believed (`lost`: ``time``), or from which on their
        file's clock is another one (``clock``)."""
        return [
            event
            for event in self.damage
            if event.get("what") == "time-backwards" and event.get("lost")
        ]

    def may_have_lost(self, run: Run) -> bool:
        """Whether a record that this run lacks may have stood in a damaged line."""
        files = self.files_of(run.agent) | self.files_of(self.parent_of(run.agent))
        if any(event.file in files or not files for event in self.losses):
            return True
        # A log whose begin is gone, of a run that began in another one: what was between?
        begun = run.start.file if run.start is not None else ""
        cut = [event.file for event in self.damage if event.get("what") == "missing-start"]
        return bool(begun) and any(file in files and file != begun for file in cut)

    # Agents

    @cached_property
    def spawns(self) -> list[Spawn]:
        """Requests for children with their answers."""
        joined = [agent.spawn for agent in self.agents.values() if agent.spawn is not None]
        known = {(spawn.parent, spawn.call): spawn for spawn in joined if spawn.call}
        return [known.get((one.parent, one.call), one) for one in spawns(self.events)]

    @cached_property
    def not_refused(self) -> list[Spawn]:
        """Those of them that are not known to be refused."""
        return [one for one in self.spawns if one.accepted is not False]

    def is_open(self, run: Run, at: Event) -> bool:
        """Whether the run has begun and not ended when `at` happens (with the skew of sources)."""
        if run.start is None or self.place(run.start) > self.place(at):
            return False
        return not any(self.precedes(end, at) for end in run.ends)

    def precedes(self, first: Event, second: Event) -> bool:
        """Whether `first` came no later than `second`, as far as two clocks can tell."""
        if first.file == second.file or not self.timed:
            return self.place(first) <= self.place(second)
        return self.time(first) <= self.time(second) + SKEW

    def open_runs(self, owner: str, at: Event) -> list[Run]:
        """The runs of `owner`'s own children that are open when `at` happens."""
        return [
            run for agent in self.children_of(owner) for run in agent.runs if self.is_open(run, at)
        ]

    # Intervals

    @cached_property
    def tools(self) -> dict[str, list[Interval]]:
        """Tool calls by agent."""
        return intervals(self.of(Kind.TOOL_STARTED, Kind.TOOL_ENDED), Kind.TOOL_STARTED, "call")

    @cached_property
    def questions(self) -> dict[str, list[Interval]]:
        """Questions and permissions by the agent that asks."""
        return intervals(
            self.of(Kind.QUESTION_ASKED, Kind.QUESTION_ANSWERED), Kind.QUESTION_ASKED, "id"
        )

    @cached_property
    def restarts(self) -> Covered:
        """From the last record before a session is loaded again to the one that says so; loading
        makes some records of its own."""
        found = []
        for resume in self.of(Kind.SESSION_RESUMED):
            at = self.time(resume)
            place = bisect_left(self.events, at - LOADING, key=self.time)
            found += [(self.time(self.events[place - 1]), at)] if place else []
        return Covered(found)

    @cached_property
    def root_errors(self) -> list[Event]:
        """The errors of the agent at the top."""
        return [event for event in self.of(Kind.ERROR) if event.agent == self.root]

    @cached_property
    def stops(self) -> dict[str, list[Event]]:
        """Cancels and aborts by the agent that they name, empty where they name none."""
        found: dict[str, list[Event]] = defaultdict(list)
        for event in self.of(Kind.CANCEL_REQUESTED, Kind.ABORTED):
            found[str(event.get("target") or "")].append(event)
        return found

    @cached_property
    def last_signs(self) -> dict[str, float]:
        """By agent when it, or an agent below it, was last seen to be there."""
        found = {
            agent.id: self.time(agent.events[-1]) for agent in self.agents.values() if agent.events
        }
        signs = [(one.agent, one.end or one.start) for one in self.attempts]
        for event in self.of(Kind.REGISTRY, Kind.STATUS):
            signs += [(str(name), self.time(event)) for name in event.get("open") or ()]
        above = [(agent.parent or "", agent.id) for agent in reversed(self.in_order)]
        for name, at in signs:
            found[name] = max(found.get(name, 0.0), at)
        for parent, name in above:
            found[parent] = max(found.get(parent, 0.0), found.get(name, 0.0))
        return found

    @cached_property
    def with_open_tools(self) -> set[str]:
        """The agents that have a tool open to the end, and those above them."""
        found = {name for name, tools in self.tools.items() if any(not one.end for one in tools)}
        for agent in reversed(self.in_order):
            found |= {agent.parent or ""} if agent.id in found else set()
        return found

    # Model calls

    @cached_property
    def attempts(self) -> list[Attempt]:
        """Every try of a model call that the provider saw, by start, joined to agents."""
        found = attempts(self.events, self._times)
        self.callers, self.callers_certain = assign(found, self.agents, self.root, self._times)
        for attempt in found:
            attempt.agent = attempt.agent or self.callers.get(attempt.caller, "")
        return found

    @cached_property
    def attempts_by_agent(self) -> dict[str, list[Attempt]]:
        """Attempts by agent id; those of callers that are no known agent under an empty one."""
        found: dict[str, list[Attempt]] = defaultdict(list)
        for attempt in self.attempts:
            found[attempt.agent].append(attempt)
        return found

    @cached_property
    def clocks_agree(self) -> bool:
        """Whether the provider's times fit the log's: no reply came before its request."""
        mine = self.attempts_by_agent.get(self.root, ())
        said = [
            event
            for event in self.of(Kind.AGENT_MESSAGE, Kind.TOOL_STARTED, Kind.SPAWN_REQUESTED)
            if event.agent == self.root and event.source != "provider"
        ]
        return not mine or not said or mine[0].start <= self.time(said[0]) + SKEW

    @cached_property
    def callers(self) -> dict[str, str]:
        """Agent id by caller of the provider (see :mod:`runs.core.callers`)."""
        _ = self.attempts  # sets it
        return self.callers

    @cached_property
    def callers_certain(self) -> bool:
        """False where callers were matched with agents only by their order."""
        _ = self.attempts  # sets it
        return self.callers_certain

    @cached_property
    def calls(self) -> list[Call]:
        """Model calls with their attempts, in order of their first try."""
        return calls(self.attempts)

    @cached_property
    def _calls_by_agent(self) -> dict[str, list[Call]]:
        found: dict[str, list[Call]] = defaultdict(list)
        for call in self.calls:
            if call.agent:
                found[call.agent].append(call)
        return found

    @cached_property
    def _begun_by_agent(self) -> dict[str, list[float]]:
        return {
            agent: [call.attempts[0].start for call in found]
            for agent, found in self._calls_by_agent.items()
        }

    def calls_of(self, agent: str, run: Run | None = None) -> list[Call]:
        """The model calls of one agent (of one of its runs), by the provider's records."""
        mine = self._calls_by_agent.get(agent, [])
        if run is None or len(self.agents[agent].runs) == 1:
            return list(mine)
        start = self.time(run.start) - SKEW if run.start else float("-inf")
        runs = self.agents[agent].runs
        later = runs[run.number].start if run.number < len(runs) else None
        stop = self.time(later) - SKEW if later else float("inf")
        begun = self._begun_by_agent.get(agent, ())
        return mine[bisect_left(begun, start) : bisect_left(begun, stop)]
