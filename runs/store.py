"""Reading what is stored: a run's history, pages of events, raw lines, bodies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import zstandard
from django.conf import settings

from runs import models
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Thresholds

PAGE = 500
LINE_LIMIT = 1 << 20
"""Bytes of one raw line that a page shows."""


def folder(run: models.Run) -> Path:
    """The run's own folder under ``var/runs``."""
    return Path(settings.VAR) / "runs" / run.permalink


def events(run: models.Run) -> Iterator[Event]:
    """Every stored event of the run in the order of its numbers."""
    for row in models.Event.objects.filter(run=run).order_by("seq").iterator(chunk_size=2000):
        yield event_of(row)


def event_of(row: models.Event) -> Event:
    """A stored row as the pure core's event."""
    return Event(
        seq=row.seq,
        t=row.t,
        kind=Kind(row.kind),
        agent=row.agent,
        source=row.source,
        file=row.file,
        line=row.line,
        pointer=row.pointer,
        native=row.native,
        native_id=row.native_id,
        offset=row.offset,
        length=row.length,
        data=row.data,
    )


def history(run: models.Run) -> History:
    """The run's history, ordered by time and then by number."""
    found = sorted(events(run), key=lambda event: (event.t is not None, event.t or 0.0, event.seq))
    if any(event.t is None for event in found):
        found.sort(key=lambda event: event.seq)
    return History(found, complete=complete(run))


def complete(run: models.Run) -> bool | None:
    """Whether nothing happened after what is stored; None: the records themselves tell.

    Of a lost run the end is missing: what it lacks proves nothing against the agent.
    """
    if run.status == models.Run.Status.LOST:
        return False
    found: bool | None = run.summary.get("complete")
    return found


def thresholds(run: models.Run) -> Thresholds:
    """The thresholds of the run's scenario over the defaults."""
    return Thresholds.of(run.snapshot.get("thresholds", {}))


def event_dict(row: models.Event) -> dict[str, Any]:
    """An event as the API and the socket give it."""
    return {
        "seq": row.seq,
        "t": row.t,
        "kind": row.kind,
        "agent": row.agent,
        "source": row.source,
        "file": row.file,
        "line": row.line,
        "pointer": row.pointer,
        "native": row.native,
        "data": row.data,
    }


def page(run: models.Run, after: int = 0, limit: int = PAGE) -> list[dict[str, Any]]:
    """Up to `limit` events with a number above `after`; its cost does not grow with the run."""
    rows = models.Event.objects.filter(run=run, seq__gt=after).order_by("seq")[:limit]
    return [event_dict(row) for row in rows]


def open_source(run: models.Run, name: str) -> bytes | None:
    """All bytes of one raw source file, unpacked; None when it is gone or not a plain file."""
    path = _inside(folder(run) / "sources", name)
    packed = path.with_name(path.name + ".zst")
    if path.is_file() and not path.is_symlink():
        return path.read_bytes()
    if packed.is_file() and not packed.is_symlink():
        return zstandard.ZstdDecompressor().stream_reader(packed.open("rb")).read()
    return None


def raw_line(run: models.Run, seq: int) -> bytes | None:
    """The raw line of an event, byte for byte (at most 1 MiB); None when it has none."""
    row = models.Event.objects.filter(run=run, seq=seq).first()
    if row is None or row.offset is None or row.length is None:
        return None
    length = min(row.length, LINE_LIMIT)
    path = _inside(folder(run) / "sources", row.file)
    if path.is_file() and not path.is_symlink():
        with path.open("rb") as file:
            file.seek(row.offset)
            return file.read(length)
    packed = path.with_name(path.name + ".zst")
    if packed.is_file() and not packed.is_symlink():
        with packed.open("rb") as file, zstandard.ZstdDecompressor().stream_reader(file) as reader:
            left = row.offset
            while left:
                piece = reader.read(min(left, 1 << 20))
                if not piece:
                    return None
                left -= len(piece)
            return bytes(reader.read(length))
    return None


def body(run: models.Run, name: str) -> bytes | None:
    """A kept request or response body by the name that its event gives."""
    path = _inside(folder(run) / "bodies", name)
    return path.read_bytes() if path.is_file() and not path.is_symlink() else None


def _inside(base: Path, name: str) -> Path:
    """`name` below `base`; a name that would leave it becomes one that does not exist."""
    path = base / name
    if ".." in Path(name).parts or Path(name).is_absolute():
        return base / "no-such-file"
    return path


PACK_ABOVE = 64 * 1024
"""Raw files larger than this are packed when the run is over."""


def pack(run: models.Run) -> None:
    """Pack the raw sources (zstd), note the run's size on disk. Safe to call again."""
    sources = folder(run) / "sources"
    for path in sorted(sources.rglob("*")) if sources.is_dir() else []:
        plain = path.is_file() and not path.is_symlink()
        if not plain or path.suffix == ".zst" or path.stat().st_size < PACK_ABOVE:
            continue
        packed = path.with_name(path.name + ".zst")
        with path.open("rb") as raw, packed.open("wb") as out:
            zstandard.ZstdCompressor(level=3).copy_stream(raw, out)
        path.unlink()
    size = sum(item.lstat().st_size for item in folder(run).rglob("*") if not item.is_dir())
    models.Run.objects.filter(pk=run.pk).update(size=size)
