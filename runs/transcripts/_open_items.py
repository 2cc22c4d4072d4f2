"""Items of a stream that begin and end by records of their own, and which of them never end."""

from __future__ import annotations

from dataclasses import dataclass, field

MOST = 20_000
"""Items that are remembered, open and ended: a stream of more is not followed further."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where a record stands: what a draft that is made later says of it."""

    line: int
    offset: int
    length: int
    at: float | None
    native: str


@dataclass(frozen=True, slots=True)
class Item:
    """One that began. `what`: message, or the name of the tool that is called."""

    thread: str
    name: str
    what: str
    place: Place


@dataclass(slots=True)
class OpenItems:
    """What one file has begun and not ended, whatever the order of its lines."""

    _open: dict[tuple[str, str], Item] = field(default_factory=dict)
    _ended: set[tuple[str, str]] = field(default_factory=set)

    def begin(self, thread: str, name: str, what: str, place: Place) -> None:
        """An item begins; one whose end stood further up is over already."""
        key = (thread, name)
        if name and key not in self._ended and len(self._open) < MOST:
            self._open.setdefault(key, Item(thread, name, what, place))

    def end(self, thread: str, name: str) -> None:
        """An item ends."""
        self._open.pop((thread, name), None)
        if len(self._ended) < MOST:
            self._ended.add((thread, name))

    def forget(self) -> None:
        """Whoever began them is gone."""
        self._open.clear()

    def left(self) -> list[Item]:
        """Those that never ended; none in a file that shows no end of anything, or of too much."""
        whole = 0 < len(self._ended) < MOST
        return list(self._open.values()) if whole else []
