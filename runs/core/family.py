"""The agents of a history: who stands above and below whom, and what each of their runs did."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from functools import cached_property

from runs.core.agents import Agent, Run, collect
from runs.core.events import Event, Kind
from runs.core.order import Ordered
from runs.core.tree import is_top, root_of, set_depths


class Family(Ordered):
    """Events in order, and the agents that they name."""

    @cached_property
    def agents(self) -> dict[str, Agent]:
        """Agents by id, with runs, parents and depth, in order of appearance."""
        agents = collect(self.events, self._times)
        self.root = root_of(agents, self._by_kind[Kind.SESSION_STARTED])
        for agent in agents.values():
            if agent.id == self.root:
                agent.parent = None
            elif agent.parent is None and is_top(agent):
                continue
            elif agent.parent is None or agent.parent not in agents:
                agent.parent = self.root
        set_depths(agents)
        return agents

    @cached_property
    def root(self) -> str:
        """Id of the agent at the top."""
        _ = self.agents  # sets it
        return self.root

    @cached_property
    def children(self) -> list[Agent]:
        """Every agent but the one at the top, and those of sessions that stand beside it."""
        return [agent for agent in self.agents.values() if agent.parent is not None]

    def parent_of(self, agent: str) -> str:
        """Id of the agent's parent, empty for the one at the top."""
        return (self.agents[agent].parent if agent in self.agents else None) or ""

    @cached_property
    def in_order(self) -> list[Agent]:
        """Agents with each child after its parent, siblings in order of appearance."""
        tops = [one for one in self.agents.values() if one.parent not in self.agents]
        waiting = sorted(tops, key=lambda one: one.parent is None)[::-1]
        found: dict[str, Agent] = {}
        while waiting:
            agent = waiting.pop()
            if agent.id not in found:
                found[agent.id] = agent
                waiting.extend(reversed(self.children_of(agent.id)))
        return list({**found, **self.agents}.values())

    def descendants(self, agent: str) -> list[Agent]:
        """All agents below it, the nearest first."""
        found: dict[str, Agent] = {}
        names = [agent]
        for name in names:
            new = [one for one in self.children_of(name) if one.id not in found]
            found.update((one.id, one) for one in new)
            names.extend(one.id for one in new)
        return list(found.values())

    def children_of(self, agent: str) -> list[Agent]:
        """The agents that it has spawned itself."""
        return self._below.get(agent, [])

    @cached_property
    def _below(self) -> dict[str, list[Agent]]:
        found: dict[str, list[Agent]] = defaultdict(list)
        for one in self.children:
            found[one.parent or ""].append(one)
        return found

    def ancestors(self, agent: str) -> list[str]:
        """Ids from its parent to the top."""
        found: dict[str, None] = {}
        agents, above = self.agents, self.parent_of(agent)
        while above and above not in found:
            found[above] = None
            above = (agents[above].parent if above in agents else None) or ""
        return list(found)

    @cached_property
    def runs(self) -> list[Run]:
        """The runs of all sub-agents, in order of agents."""
        return [run for agent in self.children for run in agent.runs]

    def events_of(self, run: Run) -> list[Event]:
        """The run's own events, from its start to the start of the agent's next run."""
        agent = self.agents[run.agent]
        if len(agent.runs) == 1:
            return agent.events
        places = self._places_of.get(agent.id)
        if places is None:
            places = self._places_of[agent.id] = [self.place(event) for event in agent.events]
        later = agent.runs[run.number].start if run.number < len(agent.runs) else None
        begun = run.number > 1 and run.start is not None
        low = bisect_left(places, self.place(run.start)) if begun and run.start else 0
        high = bisect_left(places, self.place(later)) if later is not None else len(places)
        return agent.events[low:high]

    @cached_property
    def _places_of(self) -> dict[str, list[int]]:
        return {}
