"""Lifeline's own events, as an archive holds them: one event a line, as in the API."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from runs.core.events import KINDS, Draft, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._steady import Order
from runs.transcripts._values import finite, integer, items, mapping, number, text


class Events(Lines):
    """Gives each event back with the file and line that it was first read from."""

    envelope = frozenset({"seq", "kind"})
    order = Order(jump=None, strict=False)

    def __init__(self, file: str) -> None:
        super().__init__(file, "harness")

    def record(self, record: Mapping[str, Any]) -> None:
        """One event; each further sighting becomes its twin in the other view."""
        try:
            kind = Kind(text(record.get("kind"), 80))
        except ValueError:
            self.other(text(record.get("kind"), 80), summary="unknown kind")
            return
        seq = integer(record.get("seq"))
        self.at = number(record.get("t"))
        data = {
            key: finite(value)
            for key, value in mapping(record.get("data")).items()
            if key in KINDS[kind].keys
        }
        first = Draft(
            kind=kind,
            source=text(record.get("source"), 40),
            file=text(record.get("file"), 400),
            at=self.at,
            agent=text(record.get("agent")),
            data=data,
            line=integer(record.get("line")),
            pointer=text(record.get("pointer"), 400),
            native=text(record.get("native")),
            native_id=f"event-{seq}",
        )
        self.out.append(first)
        for place in items(record.get("also")):
            seen = mapping(place)
            self.out.append(
                replace(
                    first,
                    source=text(seen.get("source"), 40),
                    file=text(seen.get("file"), 400),
                    line=integer(seen.get("line")),
                    pointer=text(seen.get("pointer"), 400),
                )
            )


class LifelineEvents(Format):
    """``events.jsonl`` of an exported run."""

    name = "lifeline-events"
    title = "Lifeline events"
    source = "harness"
    clock = "relative"

    def sniff(self, head: bytes, name: str) -> float:
        """By seq, kind, source and data."""
        found = records(head)
        mine = [one for one in found if {"seq", "kind", "source", "data"} <= one.keys()]
        return 0.98 if mine and len(mine) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one export."""
        return Events(file)


READER = LifelineEvents()
