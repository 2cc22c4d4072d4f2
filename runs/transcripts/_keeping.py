"""Keeps the drafts of one file, in bounded memory however long the file is.

Up to a limit every draft is kept. Beyond it, pieces of streamed content of one
agent within a moment become one, and records that say nothing about lifecycles
are counted with the first of their kind. Everything else is always kept; how
many lines were folded is said.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from runs.core.events import Draft, Kind

PLENTY = 60_000
"""Drafts of one file that are kept one by one."""
MOMENT = 1.0
"""Seconds of streamed content that become one."""


@dataclass(slots=True)
class Kept:
    """The drafts of one file and how many there were of each sort."""

    drafts: list[Draft] = field(default_factory=list)
    events: int = 0
    damage: int = 0
    other: Counter[str] = field(default_factory=Counter)
    folded: int = 0
    _places: dict[tuple[str, str, str], int] = field(default_factory=dict)
    _counts: Counter[int] = field(default_factory=Counter)
    _last: Draft | None = None

    def add(self, found: Iterable[Draft]) -> None:
        """Keep these drafts, or fold them into what is kept."""
        for draft in found:
            self._count(draft)
            if len(self.drafts) < PLENTY or not self._folds(draft):
                self.drafts.append(draft)
                self._last = None
            else:
                self._last = draft

    def close(self) -> None:
        """The last record is kept whatever it says: the file is complete up to it."""
        if self._last is not None:
            self.drafts.append(self._last)
            self._last = None
        for place, count in self._counts.items():
            draft = self.drafts[place]
            if draft.kind is Kind.OTHER:
                words = f"{draft.data.get('summary') or ''} and {count} more like it".strip()
                self.drafts[place] = replace(draft, data={**draft.data, "summary": words})

    def _count(self, draft: Draft) -> None:
        if draft.kind is Kind.DAMAGE:
            self.damage += 1
        elif draft.kind is Kind.OTHER:
            self.other[str(draft.data.get("type") or "")] += 1
        else:
            self.events += 1

    def _folds(self, draft: Draft) -> bool:
        if draft.kind not in (Kind.OTHER, Kind.DELTA):
            return False
        word = str(draft.data.get("type") or draft.data.get("what") or "")
        key = (draft.kind.value, draft.agent, word)
        place = self._places.get(key)
        if place is None or not self._same_moment(self.drafts[place], draft):
            self._places[key] = len(self.drafts)
            return False
        self.folded += 1
        self._counts[place] += 1
        if draft.kind is Kind.DELTA:
            before = self.drafts[place]
            size = (before.data.get("text_length") or 0) + (draft.data.get("text_length") or 0)
            self.drafts[place] = replace(before, data={**before.data, "text_length": size})
        return True

    def _same_moment(self, kept: Draft, draft: Draft) -> bool:
        if draft.kind is Kind.OTHER or kept.at is None or draft.at is None:
            return True
        # The longer the file, the coarser: memory grows with its root, not with its length.
        return abs(draft.at - kept.at) < MOMENT * (1 + len(self.drafts) // PLENTY)
