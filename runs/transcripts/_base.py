"""What every transcript reader is made of: format, reader, place in a file.

A reader takes physical lines and gives drafts. One reader serves one file, and
the same reader serves an attached file and a live source: the caller holds a
last line back until its newline came, or until the source ended.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import Any, ClassVar, Literal, Protocol, runtime_checkable

from runs.core.events import Draft

Clock = Literal["epoch", "relative", "none"]


@runtime_checkable
class Reader(Protocol):
    """Reads one file, line by line, and remembers what the file says about itself."""

    facts: dict[str, Any]
    """What the file says: agent, version, session, model, platform, cwd, title …"""

    def feed(self, line: bytes, number: int, offset: int) -> Iterable[Draft]:
        """Drafts of physical line `number` (from 1) that starts at byte `offset`.

        Every line that is not blank gives at least one draft. Never raises.
        """
        ...

    def end(self) -> Iterable[Draft]:
        """What can only be said when the file is over."""
        ...


class Format(ABC):
    """One format. A module of ``transcripts/`` ends with ``READER = ThatFormat()``."""

    name: ClassVar[str]
    """As in reports: ``copilot-events-jsonl``."""
    title: ClassVar[str]
    source: ClassVar[str]
    """The view that it is: stdout, session, log, hooks, trace, bus, rpc, acp, provider …"""
    agent: ClassVar[str] = ""
    """The agent that writes it; empty when several do."""
    clock: ClassVar[Clock] = "epoch"
    """``epoch`` seconds, seconds ``relative`` to its own start, or ``none``."""
    whole: ClassVar[bool] = False
    """The file is one document: the reader must see all of it before it says anything."""

    @abstractmethod
    def sniff(self, head: bytes, name: str) -> float:
        """How sure (0 to 1) that a file with this beginning and name is of this format."""

    @abstractmethod
    def reader(self, file: str) -> Reader:
        """A reader for one file with that short name."""
