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


def depth_of(agents: dict[str, Agent], agent: Agent) -> int:
    """How many agents stand above it (0: the one at the top)."""
    depth, above, seen = 0, agent.parent, {agent.id}
    while above is not None and above not in seen and above in agents:
        seen.add(above)
        depth, above = depth + 1, agents[above].parent
    return depth if above is None or above in seen else depth + 1


def is_top(agent: Agent) -> bool:
    """Whether it has a session of its own that nobody has spawned."""
    return (
        agent.spawn is None
        and not any(run.starts for run in agent.runs)
        and any(
            event.kind is Kind.SESSION_STARTED and event.agent == agent.id for event in agent.events
        )
    )
