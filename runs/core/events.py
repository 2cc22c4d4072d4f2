"""The one vocabulary of facts: every source is read into these events.

An event is a numbered fact about one run. What the agent wrote, what the fake
provider received and sent, the fault as it fired, process samples and our own
decisions all become events of one list, ordered by ``seq``. Laws, timeline and
outcome read nothing else. Readers and drivers give :class:`Draft` objects (an
event without a number); the recorder or the importer numbers them.

The kinds and the keys of their ``data`` are the table in :mod:`runs.core.kinds`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from runs.core.kinds import KINDS, Kind, Told

__all__ = [
    "KINDS",
    "ROOT",
    "Draft",
    "Event",
    "Kind",
    "Sighting",
    "Told",
    "number",
    "sighted",
]

ROOT = "root"
"""Id of the agent at the top where its log gives it none of its own."""


@dataclass(frozen=True, slots=True)
class Sighting:
    """Where a fact was seen: a view (`source`), a file in it and a place."""

    source: str
    file: str
    line: int | None = None
    pointer: str = ""

    @property
    def ref(self) -> str:
        """Evidence as people write it: ``FILE:LINE``, ``FILE#POINTER`` or ``span ID``."""
        if self.source == "trace" and self.pointer:
            return f"span {self.pointer}"
        if self.pointer:
            return f"{self.file}#{self.pointer}"
        return f"{self.file}:{self.line}" if self.line is not None else self.file


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A fact before it has a number.

    `at` is in the clock of its reader: epoch seconds, seconds since the
    source's start, or None where the source has no times. `native` is the
    agent's own name for the record (``subagent.completed``) and `native_id`
    the record's own id, by which mirrored sightings are joined.
    `offset`/`length` are the bytes of the raw line in `file`.
    """

    kind: Kind
    source: str
    file: str
    at: float | None = None
    agent: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    line: int | None = None
    pointer: str = ""
    native: str = ""
    native_id: str = ""
    offset: int | None = None
    length: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """A numbered fact. `t` is seconds since the run's start (None: untimed source)."""

    seq: int
    kind: Kind
    source: str
    file: str
    t: float | None = None
    agent: str = ""
    data: Mapping[str, Any] = field(default_factory=dict)
    line: int | None = None
    pointer: str = ""
    native: str = ""
    native_id: str = ""
    offset: int | None = None
    length: int | None = None
    also: tuple[Sighting, ...] = ()

    @property
    def sightings(self) -> tuple[Sighting, ...]:
        """Every place where this fact was seen, its first one first."""
        return (Sighting(self.source, self.file, self.line, self.pointer), *self.also)

    @property
    def ref(self) -> str:
        """The first sighting as evidence (``events.jsonl:12``)."""
        return self.sightings[0].ref

    def get(self, key: str, default: Any = None) -> Any:
        """The value of a key of `data`."""
        return self.data.get(key, default)

    def seen_in(self, source: str) -> bool:
        """Whether any sighting is in that view."""
        return any(place.source == source for place in self.sightings)


def number(draft: Draft, seq: int, t: float | None) -> Event:
    """The draft as event number `seq` at `t` seconds since the run's start."""
    return Event(
        seq=seq,
        t=t,
        kind=draft.kind,
        source=draft.source,
        file=draft.file,
        agent=draft.agent,
        data=draft.data,
        line=draft.line,
        pointer=draft.pointer,
        native=draft.native,
        native_id=draft.native_id,
        offset=draft.offset,
        length=draft.length,
    )


def sighted(event: Event, place: Sighting) -> Event:
    """The event with one more sighting."""
    return replace(event, also=(*event.also, place))
