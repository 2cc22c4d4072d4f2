"""Order and pairs: folding of repeated sightings, times, open and closed intervals."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from runs.core.events import Event, Kind, sighted


@dataclass(frozen=True, slots=True)
class Interval:
    """A tool call or a question, from its start to its end (None: still open)."""

    start: Event
    end: Event | None
    agent: str


def fold(events: Iterable[Event]) -> list[Event]:
    """Put each ``seen.again`` into the event that it repeats."""
    plain: dict[int, Event] = {}
    again: list[Event] = []
    for event in events:
        if event.kind is Kind.SEEN_AGAIN:
            again.append(event)
        else:
            plain[event.seq] = event
    for event in again:
        first = plain.get(event.get("of"))
        if first is not None:
            plain[first.seq] = sighted(first, event.sightings[0])
    return list(plain.values())


def closes(event: Event) -> bool:
    """Whether it is an untimed record of the end (an exit code), which stands behind all else."""
    return event.t is None and event.kind in (Kind.PROCESS_EXITED, Kind.CAPTURE_ENDED)


def times_of(events: Sequence[Event]) -> dict[int, float]:
    """Seconds by event number; an untimed event takes the time before it in its file."""
    times: dict[int, float] = {}
    latest: dict[str, float] = {}
    end = max((event.t for event in events if event.t is not None), default=0.0)
    for event in sorted(events, key=lambda event: event.seq):
        if event.t is not None:
            times[event.seq] = latest[event.file] = event.t
        elif closes(event):
            times[event.seq] = end
        else:
            times[event.seq] = latest.get(event.file, 0.0)
    return times


def intervals(events: Sequence[Event], opens: Kind, key: str) -> dict[str, list[Interval]]:
    """Pairs of start (kind `opens`) and end by the id under `key`, by the agent that started."""
    found: dict[str, list[Interval]] = defaultdict(list)
    waiting: dict[tuple[str, str], int] = {}
    for event in events:
        name = str(event.get(key) or event.seq)
        if event.kind is opens:
            waiting[event.agent, name] = len(found[event.agent])
            found[event.agent].append(Interval(event, None, event.agent))
            continue
        place = waiting.pop((event.agent, name), None)
        agent = event.agent
        if place is None:
            # The answer may be recorded for another agent than the one that asked.
            agent, place = next(
                ((who, waiting.pop((who, one))) for who, one in list(waiting) if one == name),
                ("", None),
            )
        if place is not None:
            found[agent][place] = Interval(found[agent][place].start, event, agent)
    return dict(found)
