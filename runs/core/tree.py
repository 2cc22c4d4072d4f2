"""The tree of agents: who stands at the top, and how deep each one is."""

from __future__ import annotations

from collections.abc import Sequence

from runs.core.agents import Agent
from runs.core.events import ROOT, Event, Kind


def root_of(agents: dict[str, Agent], sessions: Sequence[Event]) -> str:
    """Id of the agent at the top: `root`, else the one that others name and nobody owns."""
    if ROOT in agents or not agents:
        return ROOT
    tops = [agent.id for agent in agents.values() if agent.parent is None]
    parents = {agent.parent for agent in agents.values()}
    begun = [event.agent for event in sessions if event.agent in tops]
    for choice in (
        [name for name in begun if name in parents],
        [name for name in tops if name in parents],
        begun,
    ):
        if choice:
            return choice[0]
    with_start = [name for name in tops if not agents[name].runs]
    return with_start[0] if with_start else ROOT


def set_depths(agents: dict[str, Agent]) -> None:
    """Tell each agent how many stand above it (0: the one at the top)."""
    known: set[str] = set()
    for agent in agents.values():
        line: dict[str, Agent] = {}
        above: Agent | None = agent
        while above is not None and above.id not in known and above.id not in line:
            line[above.id] = above
            above = agents.get(above.parent or "")
        for one in reversed(line.values()):
            over = agents.get(one.parent or "")
            if over is not None and over.id in known:
                one.depth = over.depth + 1
            else:
                one.depth = 0 if one.parent is None else 1
            known.add(one.id)


def is_top(agent: Agent) -> bool:
    """Whether it has a session of its own that nobody has spawned."""
    return (
        agent.spawn is None
        and not any(run.starts for run in agent.runs)
        and any(
            event.kind is Kind.SESSION_STARTED and event.agent == agent.id for event in agent.events
        )
    )
