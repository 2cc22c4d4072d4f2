"""Keeps the drafts of a case, in bounded memory however long its files are.

Up to a limit every draft is kept. Beyond it the records of plain work (streamed pieces,
messages that end nothing, tools and turns that end well, records without a meaning for
lifecycles) are thinned: of each stretch the first and the last of an agent are kept
(:mod:`runs.transcripts._stretch`). A stretch ends with the next record of any other kind,
and after a moment. So what came before and after a telling record stays, and a silence
longer than a moment keeps its exact length. Everything else is always kept; how many lines
were folded is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from runs.core.events import Draft, Kind
from runs.transcripts._intake import Unreadable
from runs.transcripts._steady import Order, steady
from runs.transcripts._stretch import Ended, Stretch, is_plain

PLENTY = 60_000
"""Drafts of one case that are kept one by one."""
EACH = 500
"""Drafts of any file that are kept one by one, also where other files took the whole plenty."""
MOST = 240_000
"""Drafts of one case that are kept at all: about 1.2 KB of memory each."""
MOMENT, LONGEST = 1.0, 30.0
"""Seconds of a stretch, at first and at most: well below any threshold of a law."""
MOST_TYPES = 1000
"""Sorts of records without a meaning of which the first is kept whatever comes."""


@dataclass(slots=True)
class Room:
    """What the files of one case keep together."""

    kept: int = 0

    @property
    def moment(self) -> float:
        """Seconds of a stretch: the fuller, the coarser."""
        return min(LONGEST, MOMENT * 4.0 ** min(9, self.kept // max(1, PLENTY)))

    def take(self) -> None:
        """Room for one more draft; Unreadable where there is none left."""
        self.kept += 1
        if self.kept > MOST:
            raise Unreadable(
                f"There are more than {MOST} records that matter to a lifecycle.",
                "Cut the logs to the part in which it went wrong.",
            )


@dataclass(slots=True)
class Kept:
    """The drafts of one file and how many there were of each sort."""

    room: Room = field(default_factory=Room)
    drafts: list[Draft] = field(default_factory=list)
    events: int = 0
    damage: int = 0
    other: Counter[str] = field(default_factory=Counter)
    folded: int = 0
    _ended: Ended = field(default_factory=Ended)
    _stretch: Stretch = field(init=False)

    def __post_init__(self) -> None:
        self._stretch = Stretch(self._ended)

    def add(self, found: Iterable[Draft]) -> None:
        """Keep these drafts, or fold them into what is kept."""
        for draft in found:
            first = self._count(draft)
            if self.room.kept < PLENTY or len(self.drafts) < EACH:
                self._keep(draft)
            elif first or not is_plain(draft):
                self._pause()
                self._keep(draft)
            else:
                if self._stretch.over(draft, self.room.moment):
                    self._pause()
                self._stretch.add(draft)
            self._ended.note(draft)

    def close(self) -> None:
        """The last records are kept whatever they say: the file is complete up to them."""
        self._pause()

    def settle(self, order: Order) -> None:
        """Give the drafts times that can be believed."""
        before = sum(one.kind is Kind.DAMAGE for one in self.drafts)
        self.drafts = steady(self.drafts, order)
        self.damage += sum(one.kind is Kind.DAMAGE for one in self.drafts) - before

    def _keep(self, draft: Draft) -> None:
        self.room.take()
        self.drafts.append(draft)

    def _pause(self) -> None:
        kept, folded = self._stretch.close()
        self.folded += folded
        for draft in kept:
            self._keep(draft)

    def _count(self, draft: Draft) -> bool:
        """Count it; whether it is the first record of its sort that has no meaning here."""
        if draft.kind is Kind.DAMAGE:
            self.damage += 1
        elif draft.kind is Kind.OTHER:
            word = str(draft.data.get("type") or "")
            first = word not in self.other and len(self.other) < MOST_TYPES
            if first or word in self.other:
                self.other[word] += 1
            else:
                self.other["…"] += 1
            return first
        else:
            self.events += 1
        return False
