"""Reads one attached file: recognises its format, feeds its lines, keeps the count."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from runs.core.events import Draft, Kind
from runs.transcripts._base import Format
from runs.transcripts._intake import Attached, Limits
from runs.transcripts._keeping import Kept, Room
from runs.transcripts._steady import Order

HEAD = 256 << 10
"""Bytes by which a format is recognised."""
SURE = 0.4
"""A format is taken when it is at least so sure."""
Progress = Callable[[str, int, int], None]
"""Takes a file's name, the bytes read and its size."""
_EVERY = 8 << 20


@dataclass(slots=True)
class ReadFile:
    """One file, read. `format` is None where nothing recognised it."""

    name: str
    size: int
    format: Format | None = None
    lines: int = 0
    kept: Kept = field(default_factory=Kept)
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def drafts(self) -> list[Draft]:
        """What it says, in the order of its lines."""
        return self.kept.drafts

    def row(self) -> dict[str, Any]:
        """As JSON. `folded`: lines of a very long file that were put together with others."""
        return {
            "path": self.name,
            "format": self.format.name if self.format else None,
            "title": self.format.title if self.format else "not recognised",
            "bytes": self.size,
            "lines": self.lines,
            "events": self.kept.events,
            "other": dict(self.kept.other.most_common(200)),
            "damage": self.kept.damage,
            "folded": self.kept.folded,
        }


def recognise(formats: Mapping[str, Format], head: bytes, name: str) -> Format | None:
    """The format that is surest about a file with this beginning and name."""
    if not head.strip(b"\0 \r\n\t"):
        return None
    scored = [(one.sniff(head, name), one.name, one) for one in formats.values()]
    best = max(scored, key=lambda item: (item[0], item[1]), default=None)
    return best[2] if best is not None and best[0] >= SURE else None


def read(
    file: Attached,
    formats: Mapping[str, Format],
    limits: Limits,
    progress: Progress | None = None,
    format: Format | None = None,
    room: Room | None = None,
) -> ReadFile:
    """Read a file by `format`, or by the one that recognises it.

    `room` is shared by the files of a case. Raises Unreadable where it is full.
    """
    found = ReadFile(file.name, file.size, kept=Kept(room or Room()))
    with file.path.open("rb") as raw:
        head = raw.read(HEAD)
        found.format = format or recognise(formats, decoded(head), file.name)
        if found.format is None and b"\n" not in head and len(head) == HEAD:
            # The first line is longer than all that is looked at: the next ones tell as well.
            _skip(raw, limits.line)
            found.format = recognise(formats, raw.read(HEAD), file.name)
    if found.format is None:
        return found
    reader = found.format.reader(file.name)
    kept = found.kept
    told = 0
    if head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        kept.add([_damage(found.format, file.name, 1, 0, 0, "bom", "UTF-16", repaired=True)])
    for number, offset, line, too_long in _lines(file.path, limits):
        found.lines = number
        if too_long:
            kept.add(
                [_damage(
                    found.format, file.name, number, offset, too_long,
                    "too-long", f"{too_long} bytes", repaired=False,
                )]
            )  # fmt: skip
        else:
            kept.add(reader.feed(line, number, offset))
        if progress is not None and offset - told >= _EVERY:
            told = offset
            progress(file.name, offset, file.size)
    kept.add(reader.end())
    if file.cut:
        last = max(1, found.lines)
        words = f"the compressed file is not whole: {file.cut}"
        kept.add([_damage(found.format, file.name, last, file.size, 0, "truncated", words, False)])
    kept.close()
    kept.settle(getattr(reader, "order", Order(jump=None)))
    found.facts = reader.facts
    return found


def decoded(head: bytes) -> bytes:
    """The beginning of a file as UTF-8, where its byte order mark says UTF-16."""
    for mark, name in ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be")):
        if head.startswith(mark):
            return head[2:].decode(name, "ignore").encode("utf-8", "replace")
    return head


def _lines(path: Path, limits: Limits) -> Iterator[tuple[int, int, bytes, int]]:
    """Number, offset, bytes and (for one that is too long) the length of each physical line."""
    with path.open("rb") as raw:
        wide = raw.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
        raw.seek(0)
        if wide:
            yield from _wide_lines(path)
            return
        number = offset = 0
        while line := raw.readline(limits.line):
            number += 1
            length = len(line)
            if length >= limits.line and not line.endswith(b"\n"):
                length += _skip(raw, limits.line)
                yield number, offset, b"", length
            else:
                yield number, offset, line, 0
            offset += length


def _skip(raw: IO[bytes], step: int) -> int:
    skipped = 0
    while piece := raw.readline(step):
        skipped += len(piece)
        if piece.endswith(b"\n"):
            break
    return skipped


def _wide_lines(path: Path) -> Iterator[tuple[int, int, bytes, int]]:
    """Lines of a UTF-16 file (a shell's redirection wrote it) as UTF-8; offsets are in UTF-8."""
    offset = 0
    with path.open(encoding="utf-16", errors="replace", newline="\n") as file:
        for number, words in enumerate(file, 1):
            line = words.encode("utf-8", "replace")
            yield number, offset, line, 0
            offset += len(line)


def _damage(
    format: Format,
    name: str,
    line: int,
    offset: int,
    length: int,
    what: str,
    detail: str,
    repaired: bool,
) -> Draft:
    lost = "" if repaired else "line"
    return Draft(
        kind=Kind.DAMAGE,
        source=format.source,
        file=name,
        line=line,
        offset=offset,
        length=length,
        data={"what": what, "repaired": repaired, "detail": detail, "lost": lost},
    )
