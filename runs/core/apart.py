"""Which files of a case have clocks that do not fit together.

Nothing is measured between two such files. That a sub-agent's own log begins before it was
asked for, or after word that it had completed, is not its doing but its clock's; so it is
where the same calls stand in two files at times that always differ by the same. A file
without times has no clock.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import combinations

from runs.core.agents import Agent
from runs.core.events import Event, Kind
from runs.core.history import History

FIT = 2.0
"""Seconds by which clocks may differ, and by which the differences of one pair may."""
_SAME = {Kind.TOOL_STARTED: "call", Kind.SPAWN_REQUESTED: "call", Kind.TURN_STARTED: "turn"}
"""Kinds of which two files may tell the same moment, by this key."""

_ANY_TIME = frozenset(
    {Kind.OTHER, Kind.DAMAGE, Kind.LIMIT, Kind.PROCESS_EXITED, Kind.CAPTURE_ENDED}
)
"""Kinds that need no time: they come last, or hold from the first to the last."""

Pair = frozenset[str]


def clocks_apart(history: History) -> frozenset[Pair]:
    """Pairs of files between which no time can be told; in a run of ours there are none."""
    if history.of(Kind.PROCESS_STARTED):
        return frozenset()
    cut = {event.file for event in history.damage if event.get("what") == "missing-start"}
    found = _by_moments(history) | _without_times(history)
    for agent in history.children:
        found |= _contradictions(history, agent, cut) | _answers_unasked(history, agent)
    return frozenset(found)


def _contradictions(history: History, agent: Agent, cut: set[str]) -> set[Pair]:
    """Of a sub-agent the files that say it worked before its spawn, or only after its end."""
    run = agent.runs[0] if agent.runs else None
    if run is None:
        return set()
    found: set[Pair] = set()
    asked = agent.spawn.asked if agent.spawn is not None else None
    said = [one for one in (*run.ends, *run.notices) if one.get("status") == "completed"]
    for begun in run.starts:
        if begun.t is None or begun.file in cut:
            continue
        first = history.time(begun)
        early = [asked] if asked is not None and first < _time(asked, first) - FIT else []
        late = [one for one in said if not one.get("inferred") and first > _time(one, first) + FIT]
        found |= {frozenset((begun.file, one.file)) for one in (*early, *late)}
    return {pair for pair in found if len(pair) > 1}


def _answers_unasked(history: History, agent: Agent) -> set[Pair]:
    """Of a sub-agent that had answered before the first of its requests: whoever has those and
    whoever has the answer."""
    tries = history.attempts_by_agent.get(agent.id, ())
    end = agent.runs[0].end if agent.runs else None
    said = [
        one for one in agent.events if one.kind is Kind.AGENT_MESSAGE and one.get("text_length")
    ]
    if not tries or not said or end is None or end.t is None or said[0].t is None:
        return set()
    begun = tries[0].start - FIT
    if not history.time(said[0]) <= history.time(end) < begun:
        return set()
    return {frozenset((tries[0].event.file, one.file)) for one in (end, said[0])}


def _time(event: Event, otherwise: float) -> float:
    return otherwise if event.t is None else event.t


def _without_times(history: History) -> set[Pair]:
    """A file that has no times at all, beside each that has: in which order is not known."""
    timed: set[str] = set()
    bare: set[str] = set()
    for event in history.events:
        if event.kind not in _ANY_TIME:
            (bare if event.t is None else timed).add(event.file)
    return {frozenset((one, other)) for one in bare - timed for other in timed}


def _by_moments(history: History) -> set[Pair]:
    """Pairs of files that tell two or more of the same moments, always as far apart."""
    times: dict[tuple[Kind, str], dict[str, float]] = defaultdict(dict)
    for event in history.of(*_SAME):
        name = str(event.get(_SAME[event.kind]) or "")
        if name and event.t is not None:
            times[event.kind, name].setdefault(event.file, event.t)
    gaps: dict[Pair, list[float]] = defaultdict(list)
    for files in times.values():
        for one, other in combinations(sorted(files), 2):
            gaps[frozenset((one, other))].append(files[one] - files[other])
    return {
        pair
        for pair, found in gaps.items()
        if len(found) > 1 and max(found) - min(found) < FIT < min(abs(gap) for gap in found)
    }
