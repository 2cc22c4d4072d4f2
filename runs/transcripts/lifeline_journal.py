"""Lifeline's own journal of the fake provider: ``{what, at, call, attempt, caller …}``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from runs.core.events import KINDS, Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._lines import Lines
from runs.transcripts._sniff import records
from runs.transcripts._values import finite, moment, text

_KINDS = {
    kind.value: kind
    for kind in (
        Kind.REQUEST_RECEIVED,
        Kind.RESPONSE_STARTED,
        Kind.FAULT_FIRED,
        Kind.REQUEST_ENDED,
        Kind.CAPTURE_ENDED,
    )
}


class Journal(Lines):
    """One run's journal. A record keeps the keys that its kind has."""

    envelope = frozenset({"what", "at"})

    def __init__(self, file: str) -> None:
        super().__init__(file, "provider")

    def record(self, record: Mapping[str, Any]) -> None:
        """One journal record."""
        self.at = moment(record.get("at"))
        self.native = text(record.get("what"), 80)
        kind = _KINDS.get(self.native)
        if kind is None:
            self.other(self.native)
            return
        known = KINDS[kind].keys
        self.add(
            kind,
            text(record.get("agent")),
            **{key: finite(value) for key, value in record.items() if key in known},
        )


class LifelineJournal(Format):
    """Written by the fake provider of every run."""

    name = "lifeline-journal"
    title = "Lifeline provider journal"
    source = "provider"

    def sniff(self, head: bytes, name: str) -> float:
        """By its words for what happened."""
        found = records(head)
        mine = [one for one in found if text(one.get("what")) in _KINDS and "at" in one]
        return 0.95 if mine and len(mine) * 2 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one journal."""
        return Journal(file)


READER = LifelineJournal()
