"""The reference agent's log: one JSON object a line, in four views with one vocabulary.

``session.jsonl`` and standard output hold everything, ``hooks.jsonl`` starts
and ends, ``trace.jsonl`` finished spans. Its record types are our kinds by
name; what a status word means is the one table here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from runs.core.events import KINDS, ROOT, Draft, Kind
from runs.transcripts._base import Clock, Format, Reader

FORMAT = "lifeline-reference/1"

STATUS: Mapping[str, str] = {
    "starting": "starting",
    "working": "running",
    "waiting": "waiting",
    "backing-off": "retrying",
    "idle": "idle",
    "failed": "failed",
    "ended": "ended",
}
"""The agent's word for its status, and ours."""

_FOREIGN = frozenset(
    {
        Kind.PROCESS_STARTED,
        Kind.PROCESS_EXITED,
        Kind.PROCESS_SAMPLE,
        Kind.PHASE,
        Kind.GUARD,
        Kind.SEEN_AGAIN,
        Kind.DAMAGE,
        Kind.REQUEST_RECEIVED,
        Kind.REQUEST_ENDED,
        Kind.RESPONSE_STARTED,
        Kind.FAULT_FIRED,
    }
)
"""Kinds that no agent can say: they are what we see ourselves."""


class ReferenceReader:
    """Reads one file of one view. `source` is the view."""

    def __init__(self, file: str, source: str) -> None:
        self.file, self.source = file, source
        self.facts: dict[str, Any] = {"agent": "reference"}

    def feed(self, line: bytes, number: int, offset: int) -> Iterable[Draft]:
        """One record a line; a line that is none is damage and is said to be."""
        if not line.strip():
            return []
        place = {"file": self.file, "line": number, "offset": offset, "length": len(line)}
        try:
            record = json.loads(line)
        except (ValueError, RecursionError):
            return [self._damage(line, place)]
        if not isinstance(record, dict):
            return [self._damage(line, place)]
        return [self._draft(record, place)]

    def end(self) -> Iterable[Draft]:
        """Nothing is held back."""
        return []

    def _damage(self, line: bytes, place: Mapping[str, Any]) -> Draft:
        what = "glued" if b'}{"id"' in line or line.count(b'{"id"') > 1 else "half-line"
        if not line.lstrip().startswith(b"{"):
            what = "not-json"
        data = {"what": what, "repaired": False, "detail": f"{len(line)} bytes", "lost": 1}
        return Draft(kind=Kind.DAMAGE, source=self.source, data=data, **place)

    def _draft(self, record: Mapping[str, Any], place: Mapping[str, Any]) -> Draft:
        native = str(record.get("type", ""))
        kind = _kind(native)
        data = _data(kind, record, native)
        if kind in (Kind.SESSION_STARTED, Kind.SESSION_RESUMED) and data.get("version"):
            self.facts.update({key: data[key] for key in ("version", "model") if key in data})
        at = record.get("end" if kind is Kind.SPAN else "at")
        agent = record.get("agent") or (record.get("agent_id") if kind is Kind.SPAN else "")
        return Draft(
            kind=kind,
            source=self.source,
            at=_seconds(at),
            agent=agent if isinstance(agent, str) else "",
            data=data,
            native=native,
            native_id=str(record.get("id") or ""),
            **place,
        )


def _seconds(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return float(value) if 0 < value < 1e11 else None


def _kind(native: str) -> Kind:
    try:
        kind = Kind(native)
    except ValueError:
        return Kind.OTHER
    return Kind.OTHER if kind in _FOREIGN else kind


def _data(kind: Kind, record: Mapping[str, Any], native: str) -> dict[str, Any]:
    if kind is Kind.OTHER:
        return {"type": native, "summary": ""}
    data = {
        key: value for key, value in record.items() if key in KINDS[kind].keys and value is not None
    }
    if kind is Kind.STATUS:
        word = str(record.get("word", ""))
        data |= {"status": STATUS.get(word, word), "raw": word}
    if kind is Kind.AGENT_STARTED:
        data.setdefault("parent", ROOT)
    return data


class ReferenceLog(Format):
    """The files that the reference agent writes."""

    name: ClassVar[str] = "reference-jsonl"
    title: ClassVar[str] = "Reference agent: session, hooks or trace (JSON lines)"
    source: ClassVar[str] = "session"
    agent: ClassVar[str] = "reference"
    clock: ClassVar[Clock] = "epoch"

    def sniff(self, head: bytes, name: str) -> float:
        """Its first record names the format; a trace has only spans of its own shape."""
        first = head.split(b"\n", 1)[0]
        if FORMAT.encode() in first and b'"session.started"' in first:
            return 1.0
        return 0.6 if first.startswith(b'{"type":"trace.span","span":') else 0.0

    def reader(self, file: str) -> Reader:
        """A reader whose view is told by the file's name."""
        return ReferenceReader(file, view_of(file))


def view_of(file: str) -> str:
    """The view of a file by its name: stdout, hooks, trace, else session."""
    stem = file.rsplit("/", 1)[-1]
    for view in ("stdout", "hooks", "trace"):
        if view in stem:
            return view
    return "session"


READER = ReferenceLog()
