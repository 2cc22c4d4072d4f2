"""The common part of readers of one-document files: lines are gathered, read at the end."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from runs.core.events import Draft, Kind
from runs.transcripts._lines import Lines
from runs.transcripts._steady import Order
from runs.transcripts._values import clean
from runs.transcripts._weight import HEAVIEST, too_heavy

UNREADABLE = object()
"""Stands for a document that cannot be parsed (null is one that can)."""


class Document(Lines):
    """Reads one JSON document. A subclass writes ``document``."""

    order = Order(jump=None)

    def __init__(self, file: str, source: str) -> None:
        super().__init__(file, source)
        self._parts: list[bytes] = []
        self._size = 0

    def document(self, data: Any) -> None:
        """Add the events of the whole document."""
        raise NotImplementedError

    def parse(self, data: bytes) -> Any:
        """The document in its own notation; ValueError when it is none."""
        return json.loads(data.decode("utf-8"))

    def feed(self, line: bytes, number: int, offset: int) -> Iterable[Draft]:
        """Keep the line for the end."""
        self.line = number
        self._size += len(line)
        if self._size <= HEAVIEST:
            self._parts.append(line)
        return []

    def end(self) -> Iterable[Draft]:
        """Parse what was gathered, with its damage named, and read it."""
        self.out = []
        data = b"".join(self._parts)
        self._parts = []
        last = self.line
        self.line = 1
        if self._size > HEAVIEST or too_heavy(data):
            detail = "too much for one document: cut it, or attach it as JSON lines"
            self.damage("too-long", repaired=False, detail=detail, lost="file")
            return self.out
        if not data.strip():
            return self.out
        parsed = self._repaired(data, last)
        if parsed is UNREADABLE:
            return self.out
        self.line = 0
        try:
            self.document(parsed)
        except (ValueError, TypeError, KeyError, AttributeError, IndexError, RecursionError) as bad:
            self.native = ""
            self.pointer = ""
            self.other("document", f"unexpected shape: {type(bad).__name__}")
        if not any(draft.kind is not Kind.DAMAGE for draft in self.out):
            self.pointer = ""
            self.other("document")
        return self.out

    def _repaired(self, data: bytes, last: int) -> Any:
        if data.startswith(b"\xef\xbb\xbf"):
            self.damage("bom", repaired=True)
            data = data[3:]
        if b"\0" in data:
            self.damage("nul", repaired=True)
            data = data.replace(b"\0", b"")
        try:
            return self.parse(data)
        except UnicodeDecodeError:
            self.damage("invalid-utf8", repaired=True, lost="characters")
        except RecursionError:
            self.damage("too-deep", repaired=False, lost="file")
            return UNREADABLE
        except ValueError as bad:
            self._unreadable(data, last, bad)
            return UNREADABLE
        try:
            return self.parse(data.decode("utf-8", "replace").encode())
        except RecursionError:
            self.damage("too-deep", repaired=False, lost="file")
            return UNREADABLE
        except ValueError as bad:
            self._unreadable(data, last, bad)
            return UNREADABLE

    def _unreadable(self, data: bytes, last: int, bad: ValueError) -> None:
        """One document cannot be read in part: where it breaks off is all that can be said."""
        cut = not data.rstrip().endswith((b"}", b"]"))
        if isinstance(bad, json.JSONDecodeError):
            cut = bad.pos >= len(bad.doc.rstrip()) - 1
        self.line = last if cut else 1
        why = clean(str(bad)[:120])
        self.damage("truncated" if cut else "not-json", repaired=False, detail=why, lost="file")
