"""The events table: pages by number, a filter, and one line in words for each event."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count, Q

from runs import words
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
_LOUD = {
    "fault.fired": "bad",
    "error": "bad",
    "guard.fired": "bad",
    "damage": "bad",
    "network.attempt": "bad",
    "model.retry": "bad",
}


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
    loud = _LOUD.get(event.kind, "")
    if event.kind == "request.ended" and not event.data.get("complete"):
        loud = "bad"
    return EventRow(
        seq=event.seq,
        t=event.t,
        kind=event.kind,
        agent=event.agent or str(event.data.get("caller") or ""),
        native=event.native,
        what=sentence(event.kind, event.data),
        seen=one_line(" + ".join(dict.fromkeys(sources)), 40),
        places=one_line(", ".join(map(place, [event, *also])), 300),
        tone=loud,
    )


def sentence(kind: str, data: dict[str, Any]) -> str:
    """What an event says, in one line: the keys that matter of its kind, else all of them."""
    form = _SENTENCES.get(kind)
    parts = form(data) if form else [f"{key} {_plain(value)}" for key, value in data.items()]
    return one_line(", ".join(str(part) for part in parts if part not in (None, "")), 220)


def _plain(value: Any) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "–" if value is None else str(value)


def _wait(value: Any) -> str:
    return words.seconds(float(value)) if isinstance(value, int | float) else ""


_SENTENCES: dict[str, Callable[[dict[str, Any]], list[Any]]] = {
    "request.received": lambda d: [
        f"call {d.get('call')}, attempt {d.get('attempt')}",
        words.size(d.get("bytes")),
        d.get("model"),
    ],
    "response.started": lambda d: [f"attempt {d.get('attempt')}", f"HTTP {d.get('status')}"],
    "fault.fired": lambda d: [f"✂ {d.get('fault')}", d.get("mark"), f"attempt {d.get('attempt')}"],
    "request.ended": lambda d: [
        f"attempt {d.get('attempt')} "
        + words.closed(str(d.get("closed")), d.get("complete"), d.get("status")),
        words.size(d.get("bytes")),
        words.plural(int(d.get("events") or 0), "event"),
    ],
    "model.retry": lambda d: [
        f"attempt {d.get('attempt', '?')}" + (f" of {d['of']}" if d.get("of") else ""),
        f"waits {_wait(d.get('delay'))}" if d.get("delay") is not None else "",
        d.get("reason"),
    ],
    "session.status": lambda d: [
        d.get("status"),
        f"“{d['raw']}”" if d.get("raw") else "",
        "inferred" if d.get("inferred") else "",
    ],
    "process.sample": lambda d: [
        f"{words.size(d.get('rss'))} in {words.plural(int(d.get('processes') or 0), 'process')}"
    ],
}
