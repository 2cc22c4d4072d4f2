"""Events in order: folded sightings, times, places, and pairs of start and end."""

from __future__ import annotations

import bisect
import itertools
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

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
        number = event.get("of")
        first = plain.get(number) if isinstance(number, int) else None
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


class Ordered:
    """Events in order, by kind, with their times and places."""

    def __init__(self, events: Iterable[Event]) -> None:
        folded = fold(events)
        self._times = times_of(folded)
        self.events: tuple[Event, ...] = tuple(
            sorted(folded, key=lambda event: (self._times[event.seq], closes(event), event.seq))
        )
        self._places = {event.seq: place for place, event in enumerate(self.events)}
        self._by_kind: dict[Kind, list[Event]] = defaultdict(list)
        for event in self.events:
            self._by_kind[event.kind].append(event)
        self._joined: dict[tuple[Kind, ...], list[Event]] = {}
        self.timed = any(event.t is not None for event in self.events)
        self.end = max(self._times.values(), default=0.0)

    def of(self, *kinds: Kind) -> list[Event]:
        """The events of these kinds, in order."""
        return list(self._of(kinds))

    def _of(self, kinds: tuple[Kind, ...]) -> Sequence[Event]:
        if len(kinds) == 1:
            return self._by_kind.get(kinds[0], ())
        if kinds not in self._joined:
            found = [event for kind in kinds for event in self._by_kind.get(kind, ())]
            self._joined[kinds] = sorted(found, key=self.place)
        return self._joined[kinds]

    def time(self, event: Event) -> float:
        """Seconds since the run's start; of an untimed event, when its neighbours happened."""
        return self._times[event.seq]

    def place(self, event: Event) -> int:
        """The event's place in the order of the history, from 0."""
        return self._places[event.seq]

    def in_file(self, file: str) -> list[Event]:
        """The events that stand first in a file, in order."""
        return self._by_file.get(file, [])

    @cached_property
    def _by_file(self) -> dict[str, list[Event]]:
        found: dict[str, list[Event]] = defaultdict(list)
        for event in self.events:
            found[event.file].append(event)
        return found

    def after(self, event: Event, *kinds: Kind) -> Iterator[Event]:
        """The events that follow it, of these kinds (all kinds if none is given)."""
        wanted = self._of(kinds) if kinds else self.events
        begin = bisect.bisect_right(wanted, self.place(event), key=self.place)
        yield from itertools.islice(wanted, begin, None)

    def between(self, first: Event | None, last: Event | None, *kinds: Kind) -> list[Event]:
        """The events from `first` to `last`, both left out; None is the edge of the history."""
        low = -1 if first is None else self.place(first)
        high = len(self.events) if last is None else self.place(last)
        wanted = self._of(kinds)
        begin = bisect.bisect_right(wanted, low, key=self.place)
        return list(wanted[begin : bisect.bisect_left(wanted, high, key=self.place)])

    @property
    def last(self) -> Event | None:
        """The last event of the history."""
        return self.events[-1] if self.events else None

    @cached_property
    def hooks(self) -> list[Event]:
        """The events that hooks show."""
        return [event for event in self.events if event.seen_in("hooks")]

    @cached_property
    def hooked_roles(self) -> dict[str, Event]:
        """By role the first start of a sub-agent that hooks show."""
        starts = [event for event in self.hooks if event.kind is Kind.AGENT_STARTED]
        return {str(event.get("role") or ""): event for event in reversed(starts)}

    @cached_property
    def sources(self) -> frozenset[str]:
        """The views in which anything was seen."""
        return frozenset(place.source for event in self.events for place in event.sightings)

    @cached_property
    def rough(self) -> frozenset[str]:
        """Files whose records have no times of their own, but those of what they lie beside.

        They are told by few times for many lines, each of them the time of another file.
        """
        lines: dict[str, set[int | None]] = defaultdict(set)
        times: dict[str, set[float]] = defaultdict(set)
        files: dict[float, set[str]] = defaultdict(set)
        for event in self.events:
            lines[event.file].add(event.line)
            times[event.file].add(self.time(event))
            files[self.time(event)].update(place.file for place in event.sightings)
        return frozenset(
            file
            for file, found in lines.items()
            if len(found) >= max(3, 2 * len(times[file]))
            and all(len(files[at]) > 1 for at in times[file])
        )
