"""Which agent a caller of the provider is: ``child:1`` → ``agent-A``.

The provider numbers callers by their first request and does not know the ids
that the agent's own log uses. In order of certainty: the event names the agent;
both sides name the task (`task`, the number in the task's marker); a header
carries an agent's id; and what is left is matched by order of start against order of first
request, preferring agents that did anything at all, so that a child that never
ran takes nobody else's requests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from runs.core.agents import Agent
from runs.core.attempts import Attempt
from runs.core.events import Kind
from runs.core.signs import is_bad, is_good

SKEW = 1.0
"""Seconds by which an agent's own clock and ours may differ."""

_SIGNS_OF_LIFE = frozenset(
    {
        Kind.MODEL_STARTED,
        Kind.MODEL_ENDED,
        Kind.MODEL_RETRY,
        Kind.RETRY_CLAIM,
        Kind.ERROR,
        Kind.AGENT_MESSAGE,
        Kind.DELTA,
        Kind.TOOL_STARTED,
        Kind.AGENT_ENDED,
        Kind.TURN_ENDED,
    }
)


def assign(
    attempts: Sequence[Attempt],
    agents: Mapping[str, Agent],
    root: str,
    times: Mapping[int, float],
) -> tuple[dict[str, str], bool]:
    """Agent id by caller, and whether that is certain (not only plausible by order).

    `times` gives seconds since the run's start by event number. Callers that
    match nobody (`utility`, a child that the log never names) are absent.
    """
    firsts: dict[str, Attempt] = {}
    lasts: dict[str, Attempt] = {}
    for attempt in attempts:
        firsts.setdefault(attempt.caller, attempt)
        lasts[attempt.caller] = attempt
    found: dict[str, str] = {}
    for caller, first in firsts.items():
        named = _named(caller, first, agents, root)
        if named:
            found[caller] = named
    certain = True
    for prefix, deep in (("child:", False), ("grandchild:", True)):
        callers = [name for name in firsts if name.startswith(prefix) and name not in found]
        free = [
            agent
            for agent in agents.values()
            if agent.id not in found.values() and agent.id != root and (agent.depth > 1) is deep
        ]
        certain &= _by_order(callers, free, firsts, lasts, times, found)
    return found, certain


def _named(caller: str, first: Attempt, agents: Mapping[str, Agent], root: str) -> str:
    if first.agent:
        return first.agent
    if caller == "parent":
        return root
    if caller in agents:
        return caller
    if caller == "utility" or first.received is None:
        return ""
    task = str(first.received.get("task") or "")
    if task:
        for agent in agents.values():
            if agent.spawn is not None and str(agent.spawn.get("task") or "") == task:
                return agent.id
    headers = first.received.get("headers")
    if isinstance(headers, Mapping):
        return _by_header(headers, agents, root)
    return ""


def _by_header(headers: Mapping[str, object], agents: Mapping[str, Agent], root: str) -> str:
    """A header whose value is the id of a sub-agent; headers about the parent do not count."""
    for name, value in headers.items():
        if "parent" not in str(name).lower() and value in agents and value != root:
            return str(value)
    return ""


def _by_order(
    callers: Iterable[str],
    free: Sequence[Agent],
    firsts: Mapping[str, Attempt],
    lasts: Mapping[str, Attempt],
    times: Mapping[int, float],
    found: dict[str, str],
) -> bool:
    wanted = list(callers)
    alive = [agent for agent in free if _alive(agent)]
    pool = alive if len(alive) >= len(wanted) else list(free)
    certain = len(pool) <= 1 or len(pool) == len(wanted) == 1
    for caller in wanted:
        started = [agent for agent in pool if _start(agent, times) <= firsts[caller].start + SKEW]
        choice = started or pool
        if not choice:
            return certain
        # Of those that fit, one whose own log ends as this caller's calls do.
        alike = [one for one in choice if _failed(one) is not lasts[caller].complete]
        agent = min(alike or choice, key=lambda one: _start(one, times))
        pool.remove(agent)
        found[caller] = agent.id
    return certain


def _failed(agent: Agent) -> bool:
    """Whether the agent's own records close with an error."""
    for event in reversed(agent.events):
        if is_bad(event) or is_good(event):
            return is_bad(event)
    return False


def _alive(agent: Agent) -> bool:
    return any(event.kind in _SIGNS_OF_LIFE for event in agent.events)


def _start(agent: Agent, times: Mapping[int, float]) -> float:
    first = agent.spawn.asked if agent.spawn is not None else None
    event = first or agent.first
    return times[event.seq] if event is not None else 0.0
