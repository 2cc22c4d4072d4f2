"""From bytes to drafts: standard streams and files that grow, line by line.

Every byte is kept as it came in the run's ``sources/`` folder; every physical
line goes through its reader. A line that is too long is named as damage and its
first part is dropped from parsing, never from the file. Files of the agent are
opened without following links and only when they are plain files.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from io import FileIO
from pathlib import Path
from typing import BinaryIO

from runs.core.events import Draft, Kind
from runs.driver import Source
from runs.transcript import Reader
from runs.workspace import Workspace, open_beneath

LINE_LIMIT = 8 << 20
"""Bytes of one line that a reader is given."""
CHUNK = 1 << 18
FILES_LIMIT = 64
"""Files of one source that are followed; more are named, not read."""

Sink = Callable[[Draft], object]


class LineFeed:
    """Cuts a stream of bytes into lines, keeps the bytes in a file, feeds a reader."""

    def __init__(self, path: Path, source: str, reader: Reader, sink: Sink) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        self.name, self.source = path.name, source
        self._kept: BinaryIO = path.open("ab")
        self._reader, self._sink = reader, sink
        self._buffer = bytearray()
        self._skipping = False
        self._line = 1
        self._offset = 0
        self.bytes = 0

    def feed(self, data: bytes) -> None:
        """Take the next bytes of the stream."""
        self._kept.write(data)
        self._kept.flush()
        self.bytes += len(data)
        self._buffer += data
        start = 0
        while (end := self._buffer.find(b"\n", start)) >= 0:
            self._take(bytes(self._buffer[start : end + 1]))
            start = end + 1
        del self._buffer[:start]
        if len(self._buffer) > LINE_LIMIT:
            self._too_long()

    def close(self) -> None:
        """The stream is over: the last line may have no newline."""
        if self._buffer:
            self._take(bytes(self._buffer))
            self._buffer.clear()
        self._give(self._reader.end())
        self._kept.close()

    def _too_long(self) -> None:
        if not self._skipping:
            self._damage("too-long", f"a line of more than {LINE_LIMIT} bytes")
        self._skipping = True
        self._offset += len(self._buffer)
        self._buffer.clear()

    def _take(self, line: bytes) -> None:
        if self._skipping:
            self._skipping = False
        else:
            self._give(self._reader.feed(line, self._line, self._offset))
        self._offset += len(line)
        self._line += 1

    def _damage(self, what: str, detail: str) -> None:
        self._sink(
            Draft(
                kind=Kind.DAMAGE,
                source=self.source,
                file=self.name,
                line=self._line,
                offset=self._offset,
                length=0,
                data={"what": what, "repaired": False, "detail": detail, "lost": True},
            )
        )

    def _give(self, drafts: Iterable[Draft]) -> None:
        for draft in drafts:
            self._sink(draft)


class Tail:
    """Follows the files of one source while they grow (call :meth:`poll` often)."""

    def __init__(self, source: Source, workspace: Workspace, sink: Sink) -> None:
        self.source, self._workspace, self._sink = source, workspace, sink
        self._open: dict[Path, tuple[FileIO, LineFeed]] = {}
        self._refused: set[Path] = set()
        self._names: set[str] = set()
        self._over = False

    @property
    def bytes(self) -> int:
        """All bytes read so far."""
        return sum(feed.bytes for _, feed in self._open.values())

    def poll(self, limit: int = CHUNK * 16) -> int:
        """Read what is new, at most about `limit` bytes; gives how many were read."""
        if self.source.late and not self._over:
            return 0
        for path in self._workspace.glob(self.source.glob):
            if path not in self._open and path not in self._refused:
                self._start(path)
        total = 0
        for file, feed in self._open.values():
            while total < limit and (data := file.read(CHUNK)):
                feed.feed(data)
                total += len(data)
        return total

    def close(self, within: int) -> None:
        """Read the rest, at most about `within` bytes, and end every reader."""
        self._over = True
        while within > 0 and (read := self.poll(min(within, CHUNK * 16))):
            within -= read
        for file, feed in self._open.values():
            feed.close()
            file.close()
        self._open.clear()

    def _start(self, path: Path) -> None:
        root = self._workspace.root
        try:
            descriptor = open_beneath(root, path.relative_to(root))
        except OSError:
            descriptor = None
        if descriptor is None or len(self._open) >= FILES_LIMIT:
            self._refused.add(path)
            self._sink(
                Draft(
                    kind=Kind.DAMAGE,
                    source=self.source.name,
                    file=path.name,
                    data={
                        "what": "truncated",
                        "repaired": False,
                        "detail": "not read: it is no plain file of the run, or one too many",
                        "lost": True,
                    },
                )
            )
            return
        name = self._name(path.name)
        feed = LineFeed(
            self._workspace.sources / name, self.source.name, self.source.reader(name), self._sink
        )
        self._open[path] = (os.fdopen(descriptor, "rb", buffering=0), feed)

    def _name(self, base: str) -> str:
        """Its short name, as in evidence: ``session-events.jsonl``; a second one is numbered."""
        view = self.source.name
        plain = base if base.startswith(view) else f"{view}-{base}"
        name, number = plain, 2
        while name in self._names:
            name, number = f"{view}-{number}-{base}", number + 1
        self._names.add(name)
        return name
