"""Notices a record that stands in a file twice, though its agent wrote it once.

A record with an id or a time of its own is the same one wherever it comes again, word for
word. One without both is so right behind itself where it names a call or a turn, and also
later where it says that a run has ended: until that agent begins again it ends once, and until
its parent says something that is told once. A start in the same words after that end may be a
new run or a copy.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Mapping, Sequence
from typing import Any

from runs.core.events import Draft, Kind

REMEMBERED = 50_000
"""Records that are remembered."""
_TIMES = frozenset({"timestamp", "received_at", "time", "t_ms", "ts"})
"""Keys under which records without an id of their own have their writer's time."""
_BEGINS = frozenset({Kind.AGENT_STARTED, Kind.AGENT_RESUMED, Kind.USER_MESSAGE})
_TOLD = frozenset({Kind.NOTICE_QUEUED, Kind.NOTICE_DELIVERED})
_PIECES = frozenset({Kind.DELTA, Kind.DAMAGE})
_ONCE = {
    Kind.AGENT_ENDED: "",
    Kind.NOTICE_QUEUED: "",
    Kind.NOTICE_DELIVERED: "",
    Kind.TOOL_STARTED: "call",
    Kind.TOOL_ENDED: "call",
    Kind.SPAWN_REQUESTED: "call",
    Kind.SPAWN_ANSWERED: "call",
    Kind.TURN_ENDED: "turn",
    Kind.QUESTION_ASKED: "id",
    Kind.QUESTION_ANSWERED: "id",
}
"""Kinds that happen once where their record has a value under this key."""


class Twice:
    """What of a file is remembered, in bounded memory."""

    def __init__(self) -> None:
        self._marks: set[int] = set()
        self._recent: deque[int] = deque()
        self._said: dict[int, tuple[str, int]] = {}
        self._era: Counter[str] = Counter()
        self._starts: dict[int, str] = {}
        self._ended: set[str] = set()
        self._before: Mapping[str, Any] = {}
        self._named = False
        self._timed = False

    def again(self, record: Mapping[str, Any], own: str, native: str, line: bytes) -> bool:
        """Whether it stood here before; `own` is its id, if any, `line` it as it was written."""
        before, self._before = self._before, record
        mark = hash((own, native)) if own else hash(line)
        if mark in self._marks:
            return True
        if own:
            self._remember(mark)
            return False
        whose, era = self._said.get(mark, ("", 0))
        if whose and self._era[whose] == era:
            return True
        self._timed = not _TIMES.isdisjoint(record) and "delta" not in native
        return (self._timed or self._named) and before == record

    def doubtful(self, line: bytes) -> bool:
        """Whether it is a copied start or a second one in the same words: nobody can tell."""
        begun = self._starts.get(hash(line))
        return begun is not None and begun in self._ended

    def read(self, line: bytes, own: str, drafts: Sequence[Draft]) -> None:
        """What came of a record: by this a later one is known to be the same."""
        self._named = False
        mark = 0 if own else hash(line)
        for draft in drafts:
            self._named |= draft.kind in _ONCE and bool(draft.data.get(_ONCE[draft.kind], True))
            if draft.kind in _BEGINS:
                self._begins(draft, mark)
            elif draft.kind is Kind.AGENT_MESSAGE:
                self._era[f"told {draft.agent}"] += 1
            elif draft.kind is Kind.AGENT_ENDED:
                self._ended.add(draft.agent)
                self._said[mark] = draft.agent, self._era[draft.agent]
            elif draft.kind in _TOLD:
                self._said[mark] = (told := f"told {draft.agent}"), self._era[told]
        if mark and self._timed and any(draft.kind not in _PIECES for draft in drafts):
            self._remember(mark)

    def _begins(self, draft: Draft, mark: int) -> None:
        self._ended.discard(draft.agent)
        self._era[draft.agent] += 1
        if mark and not self._timed and draft.kind is Kind.AGENT_STARTED:
            self._starts[mark] = draft.agent

    def _remember(self, mark: int) -> None:
        if mark in self._marks:
            return
        self._marks.add(mark)
        self._recent.append(mark)
        if len(self._recent) > REMEMBERED:
            self._marks.discard(self._recent.popleft())
