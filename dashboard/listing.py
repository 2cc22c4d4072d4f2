"""The events table: pages by number, a filter, and one line in words for each event."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import urlencode

from django.db.models import Count, Q

from runs import sayings
from runs.models import Event, Run
from runs.text import one_line, visible

FIRST = 200
"""Rows that the page itself carries; more come by paging or by the API."""
COUNTED = 20_000
"""Runs with more events than this are not counted by source."""
HIDDEN = ("seen.again", "process.sample")
"""Kinds that the table leaves out unless the filter names them; both are shown elsewhere."""
_TOKEN = re.compile(r'(-?)(?:([a-z]+):)?(?:"([^"]*)"|(\S+))')
_FIELDS = {"agent": "agent", "kind": "kind", "source": "source", "file": "file", "native": "native"}


@dataclass(slots=True)
class EventRow:
    """One event of the table."""

    seq: int
    t: float | None
    kind: str
    agent: str
    native: str
    what: str
    seen: str
    places: str
    tone: str


@dataclass(slots=True)
class Listing:
    """A page of events."""

    rows: list[EventRow]
    query: str
    after: int
    total: int
    more: bool = False
    sources: list[tuple[str, int]] = field(default_factory=list)
    damaged: int = 0

    @property
    def last(self) -> int:
        """The number of the last row."""
        return self.rows[-1].seq if self.rows else self.after

    @property
    def next_url(self) -> str:
        """The address of the next page."""
        return f"?{urlencode({'events': self.query, 'after': self.last})}#events-title"

    @property
    def first_url(self) -> str:
        """The address of the first page."""
        return f"?{urlencode({'events': self.query})}#events-title"


def condition(query: str) -> Q:
    """The database condition of an event filter: ``agent:child -kind:delta words``."""
    found, kinds_named = Q(), False
    for sign, key, quoted, bare in _TOKEN.findall(query)[:20]:
        value = quoted or bare
        if key in _FIELDS:
            kinds_named |= key == "kind" and not sign
            term = Q()
            for part in value.split(","):
                term |= Q(**{_FIELDS[key]: part}) | Q(**{f"{_FIELDS[key]}__startswith": f"{part}."})
        else:
            whole = f"{key}:{value}" if key else value
            term = Q(data__icontains=whole) | Q(kind__icontains=whole) | Q(native__icontains=whole)
            term |= Q(agent__icontains=whole)
        found &= ~term if sign else term
    return found if kinds_named else found & ~Q(kind__in=HIDDEN)


def listing(run: Run, query: str = "", after: int = 0, limit: int = FIRST) -> Listing:
    """A page of the run's events that match; its cost does not grow with the run's length."""
    events = Event.objects.filter(run=run, seq__gt=after).filter(condition(query)).order_by("seq")
    found = list(events[: limit + 1])
    more = len(found) > limit
    found = found[:limit]
    again = _sightings(run, [event.seq for event in found])
    counts, damaged = _counts(run)
    return Listing(
        rows=[row_of(event, again.get(event.seq, [])) for event in found],
        query=query,
        after=after,
        total=run.event_count or sum(counts.values()),
        more=more,
        sources=list(counts.items()),
        damaged=damaged,
    )


def _counts(run: Run) -> tuple[dict[str, int], int]:
    """Sightings by source, most first, and damaged lines; none yet for a long open run."""
    if "sources" in run.summary:
        found = run.summary["sources"]
        ordered = sorted(found.items(), key=lambda pair: (-pair[1], pair[0]))
        return dict(ordered), int(run.summary.get("damage") or 0)
    events = Event.objects.filter(run=run)
    if run.event_count > COUNTED or events.filter(seq__gt=COUNTED).exists():
        return {}, 0
    grouped = events.values_list("source").annotate(n=Count("id")).order_by("-n", "source")
    return dict(grouped), events.filter(kind="damage").count()


def _sightings(run: Run, seqs: list[int]) -> dict[int, list[Event]]:
    """Where else each of these facts was seen; a mirrored sighting follows closely."""
    if not seqs:
        return {}
    found: dict[int, list[Event]] = {}
    again = Event.objects.filter(
        run=run, kind="seen.again", seq__gt=seqs[0], seq__lt=seqs[-1] + 2000
    )
    for event in again:
        found.setdefault(event.data.get("of", 0), []).append(event)
    return found


def place(event: Event) -> str:
    """Where an event was seen, as evidence is written."""
    if event.pointer:
        lead = "span " if event.source == "trace" else f"{event.file}#"
        return visible(lead + event.pointer)
    return visible(f"{event.file}:{event.line}" if event.line is not None else event.file)


def row_of(event: Event, also: list[Event]) -> EventRow:
    """One event as its row."""
    sources = [event.source, *(other.source for other in also)]
    return EventRow(
        seq=event.seq,
        t=event.t,
        kind=event.kind,
        agent=event.agent or str(event.data.get("caller") or ""),
        native=event.native,
        what=one_line(sayings.sentence(event.kind, event.data), 220),
        seen=one_line(" + ".join(dict.fromkeys(sources)), 40),
        places=one_line(", ".join(map(place, [event, *also])), 300),
        tone=sayings.tone(event.kind, event.data),
    )
