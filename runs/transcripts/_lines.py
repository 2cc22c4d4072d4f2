"""The common part of readers of JSON lines: physical lines to records, damage named.

A reader subclasses :class:`Lines` and writes ``record``. Whatever a line is, it
is accounted for: it gives events, or damage, or an ``other`` event.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from runs.core.events import Draft, Kind
from runs.transcripts._repair import Repaired, repair
from runs.transcripts._steady import Order
from runs.transcripts._twice import Twice
from runs.transcripts._values import text
from runs.transcripts._weight import too_heavy

LONGEST_LINE = 32 << 20
"""Bytes of one line that are still parsed."""
MOST_PIECES = 64
"""Physical lines over which one record may be spread by raw newlines."""
SLACK = 0.0005
"""Seconds that times may go back without being called backwards (they are in milliseconds)."""


class Lines:
    """Reads JSON lines of one file. Not thread-safe, one instance a file."""

    envelope: ClassVar[frozenset[str]] = frozenset({"type"})
    """Keys that every record has; what has none of them is not taken for a whole record."""
    order: ClassVar[Order] = Order()
    """In which order its lines stand."""
    sse: ClassVar[bool] = False
    """Whether lines may be server-sent events (``data: {…}``)."""

    def __init__(self, file: str, source: str) -> None:
        self.file = file
        self.source = source
        self.facts: dict[str, Any] = {}
        self.out: list[Draft] = []
        self.line = 0
        self.offset = 0
        self.length = 0
        self.at: float | None = None
        self.native = ""
        self.native_id = ""
        self.pointer = ""
        self.latest: float | None = None
        self._torn: list[tuple[bytes, int, int, int]] = []
        self._twice = Twice()
        self._seen_crlf = False
        self._added = 0

    # What a reader writes

    def record(self, record: Mapping[str, Any]) -> None:
        """Add the events of one whole record."""
        raise NotImplementedError

    def finish(self) -> None:
        """Add what can only be said at the end of the file."""

    def identity(self, record: Mapping[str, Any]) -> str:
        """The record's own id, by which a line that stands there twice is noticed; else nothing."""
        return ""

    # What a reader calls

    def add(self, kind: Kind, agent: str = "", /, **data: Any) -> None:
        """One event at the current place. Values that are None are kept: they mean not known.

        Several events of one record get ids of their own, so that each is joined
        with its twin in another view.
        """
        native_id = self.native_id
        if native_id:
            if self._added:
                native_id = f"{native_id}#{self._added}"
            self._added += 1
        self.out.append(
            Draft(
                kind=kind,
                source=self.source,
                file=self.file,
                at=self.at,
                agent=agent,
                data=data,
                line=self.line or None,
                pointer=self.pointer,
                native=self.native,
                native_id=native_id,
                offset=self.offset,
                length=self.length,
            )
        )

    def damage(self, what: str, *, repaired: bool, detail: str = "", lost: str = "") -> None:
        """Name a damage of the current line."""
        kept, self.native_id = self.native_id, ""
        self.add(Kind.DAMAGE, what=what, repaired=repaired, detail=detail, lost=lost)
        self.native_id = kept

    def other(self, kind: str, summary: str = "", agent: str = "") -> None:
        """Keep a record that is not understood, or says nothing about lifecycles."""
        self.add(Kind.OTHER, agent, type=kind, summary=summary)

    # The reader protocol

    def feed(self, line: bytes, number: int, offset: int) -> Iterable[Draft]:
        """Drafts of one physical line."""
        self.out = []
        stripped = line.rstrip(b"\r\n")
        if self._torn:
            if self._continued(line, stripped, number, offset):
                return self.out
            self._lose_torn()
        self._stand(number, offset, len(line))
        if not stripped.strip():
            return self.out
        if self.sse and not stripped.startswith(b"{"):
            if stripped.startswith((b"event:", b"id:", b"retry:", b":")):
                self.other("sse", text(stripped[:160].decode("utf-8", "replace"), 40))
                return self.out
            stripped = stripped.removeprefix(b"data:").strip()
        if line.endswith(b"\r\n") and not self._seen_crlf:
            self._seen_crlf = True
            self.damage("crlf", repaired=True, detail="lines end in CR LF (said once)")
        if too_heavy(stripped):
            self.damage("too-long", repaired=False, detail="more parts than are read", lost="line")
            return self.out
        try:
            record = json.loads(stripped.decode())
        except (ValueError, RecursionError):
            self._broken(stripped, number, offset)
            return self.out
        if isinstance(record, dict):
            self._take(record, stripped)
        else:
            self.damage("not-json", repaired=False, detail="not an object", lost="line")
        return self.out

    def end(self) -> Iterable[Draft]:
        """What is left to say when the file is over."""
        self.out = []
        if self._torn:
            self._lose_torn(last=True)
        self.native = self.native_id = self.pointer = ""
        try:
            self.finish()
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError):
            self.damage("not-json", repaired=False, detail="the end could not be read")
        return self.out

    # Inside

    def _stand(self, number: int, offset: int, length: int) -> None:
        self.line, self.offset, self.length = number, offset, length
        self.at, self.native, self.native_id = None, "", ""

    def _take(self, record: dict[str, Any], line: bytes) -> None:
        """One whole record: notice a repeat, read it, make sure that something came of it."""
        before = len(self.out)
        self._added = 0
        name = record.get("type")
        self.native = text(name, 80)
        try:
            own = self.identity(record)
            if self._twice.again(record, own, self.native, line):
                self.damage("duplicate", repaired=True, detail="the same record stood here before")
                return
            if self._twice.doubtful(line):
                self.damage("duplicate", repaired=False, lost="whether it is a new run",
                            detail="a new run, or a copy of what stood here before")  # fmt: skip
            self.record(record)
            self._twice.read(line, own, self.out[before:])
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as bad:
            # A shape that no reader foresaw must not cost the rest of the file.
            del self.out[before:]
            self.other(self.native or "unreadable", f"unexpected shape: {type(bad).__name__}")
        if len(self.out) == before:
            self.other(self.native)
        self._note_time()

    def _note_time(self) -> None:
        at = self.at
        if at is None:
            return
        if self.latest is not None and at < self.latest - SLACK:
            back = round(self.latest - at, 3)
            if self.order.strict:
                self.damage(
                    "time-backwards", repaired=False, detail=f"{back} s before an earlier line"
                )
            if back <= (self.order.jump or 0.0):  # a clock that was set back is named once
                return
        self.latest = at

    def _broken(self, stripped: bytes, number: int, offset: int) -> None:
        """A line that is not one JSON object: mend it, keep it for the next line, or name it."""
        found = repair(stripped, self.envelope)
        if found.torn and not found.records:
            self._apply(found)
            self._torn = [(stripped, number, offset, self.length)]
            return
        self._apply(found)

    def _apply(self, found: Repaired) -> None:
        for what, repaired, lost in found.damage:
            self.damage(what, repaired=repaired, lost=lost)
        for record in found.records:
            self._take(record, json.dumps(record).encode())

    def _continued(self, line: bytes, stripped: bytes, number: int, offset: int) -> bool:
        """Whether this line goes on with a torn one (raw newlines inside of a text)."""
        size = sum(len(one[0]) for one in self._torn) + len(stripped)
        if stripped.startswith(b'{"') or len(self._torn) >= MOST_PIECES or size > LONGEST_LINE:
            return False
        self._torn.append((stripped, number, offset, len(line)))
        try:
            words = b"\\n".join(one[0] for one in self._torn).decode()
            record = json.loads(words, strict=False)
        except (ValueError, RecursionError):
            return True
        if not isinstance(record, dict) or self.envelope.isdisjoint(record):
            return True
        pieces, self._torn = self._torn, []
        first = pieces[0]
        self._stand(first[1], first[2], offset + len(line) - first[2])
        self.damage("half-line", repaired=True, detail="a raw newline split the record")
        self._take(record, words.encode())
        for _, here, start, length in pieces[1:]:
            self._stand(here, start, length)
            self.damage("half-line", repaired=True, detail=f"the rest of line {first[1]}")
        return True

    def _lose_torn(self, last: bool = False) -> None:
        pieces, self._torn = self._torn, []
        for place, (torn, number, offset, length) in enumerate(pieces):
            if place and not torn.strip():
                continue
            self._stand(number, offset, length)
            if place:
                self.damage("not-json", repaired=False, detail="after a torn record", lost="line")
                continue
            self.damage(
                "truncated" if last and len(pieces) == 1 else "half-line",
                repaired=False,
                detail="the file ends inside of a record" if last else "the record is cut off",
                lost="record",
            )
