"""A stretch of plain work in a very long file: of each agent its first and last records stay.

What was open when the stretch began or ended stays as well, and so does a tool call that is
started a second time.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from runs.core.events import Draft, Kind

LONGEST_STRETCH = 5000
"""Records of one stretch."""
REMEMBERED = 20_000
"""Tool calls of a file that are remembered, to see one of them started again."""
_OPENS = {
    Kind.TOOL_STARTED: "call",
    Kind.TURN_STARTED: "turn",
    Kind.MODEL_STARTED: "call",
}
_CLOSES = {
    Kind.TOOL_ENDED: Kind.TOOL_STARTED,
    Kind.TURN_ENDED: Kind.TURN_STARTED,
    Kind.MODEL_ENDED: Kind.MODEL_STARTED,
}
_CUT = frozenset({"truncated", "missing-start"})
_NO_WORDS = ("", None, "completed")

Placed = tuple[int, Draft]
_Place = tuple[float | None, int | None, int | None, int | None, str]
"""Time, line, offset, length and the agent's own word of a record."""


def is_plain(draft: Draft) -> bool:
    """Whether it is work as it should be, which no law asks for one by one."""
    data = draft.data
    match draft.kind:
        case Kind.OTHER | Kind.DELTA:
            return True
        case Kind.AGENT_MESSAGE:
            return not (data.get("error") or data.get("empty"))
        case Kind.TOOL_STARTED:
            return not data.get("background")
        case Kind.TOOL_ENDED:
            return data.get("ok") is True and not any(
                data.get(key) for key in ("background", "denied", "interrupted")
            )
        case Kind.TURN_STARTED:
            return True
        case Kind.TURN_ENDED:
            return data.get("status") in _NO_WORDS and not data.get("error_class")
        case Kind.MODEL_STARTED:
            return data.get("attempt") in (None, 0, 1)
        case Kind.MODEL_ENDED:
            return data.get("ok") is True and data.get("attempt") in (None, 0, 1)
        case Kind.DAMAGE:
            return data.get("what") not in _CUT
    return False


@dataclass(slots=True)
class Lane:
    """One sort of work of one agent. A unit is a record, or a start with its end."""

    kept: list[Placed] = field(default_factory=list)
    last: list[Placed] = field(default_factory=list)
    open: dict[str, Placed] = field(default_factory=dict)
    begun: bool = False
    folded: int = 0

    def add(self, placed: Placed) -> list[Placed]:
        """Take a record in; gives the unit that is dropped for it."""
        draft = placed[1]
        if draft.kind in _OPENS:
            name = str(draft.data.get(_OPENS[draft.kind]) or "")
            if name in self.open:
                self.kept.append(self.open[name])
            self.open[name] = placed
            return []
        unit = [placed]
        if draft.kind in _CLOSES:
            name = str(draft.data.get(_OPENS[_CLOSES[draft.kind]]) or "")
            start = self.open.pop(name, None)
            if start is None:
                self.kept.append(placed)
                return []
            unit = [start, placed]
        if not self.begun:
            self.begun = True
            self.kept += unit
            return []
        dropped, self.last = self.last, unit
        self.folded += len(dropped)
        if dropped and draft.kind is Kind.DELTA:
            self.last = [(placed[0], _longer(draft, dropped[0][1]))]
        return dropped

    def close(self) -> list[Placed]:
        """What stays; the last of the records without a meaning says how many it stands for."""
        if self.folded and self.last[0][1].kind is Kind.OTHER:
            place, draft = self.last[0]
            words = f"{draft.data.get('summary') or ''} and {self.folded} more like it".strip()
            self.last = [(place, replace(draft, data={**draft.data, "summary": words}))]
        return [*self.kept, *self.last, *self.open.values()]


def _word(draft: Draft) -> str:
    """What makes another sort of work out of records of one kind."""
    data = draft.data
    if draft.kind is Kind.OTHER:
        return str(data.get("type") or "")
    if draft.kind is Kind.DAMAGE:
        return str(data.get("what") or "")
    return "final" if draft.kind is Kind.AGENT_MESSAGE and data.get("final") else ""


def _longer(draft: Draft, dropped: Draft) -> Draft:
    """The piece of text with the length of the one that is dropped for it."""
    size = (draft.data.get("text_length") or 0) + (dropped.data.get("text_length") or 0)
    return replace(draft, data={**draft.data, "text_length": size})


class Ended:
    """The last tool calls that ended, by which one that is started again is seen."""

    def __init__(self) -> None:
        self._calls: OrderedDict[str, tuple[_Place, ...]] = OrderedDict()

    def note(self, draft: Draft) -> None:
        """Remember a call that ended."""
        call = str(draft.data.get("call") or "")
        if draft.kind is Kind.TOOL_ENDED and call:
            self._calls[call] = ()
            if len(self._calls) > REMEMBERED:
                self._calls.popitem(last=False)

    def fold(self, unit: Sequence[Placed]) -> None:
        """Remember where a call stood whose records were folded."""
        if len(unit) == 2 and unit[1][1].kind is Kind.TOOL_ENDED:
            call = str(unit[1][1].data.get("call") or "")
            if call in self._calls:
                self._calls[call] = tuple(
                    (one.at, one.line, one.offset, one.length, one.native) for _, one in unit
                )

    def again(self, draft: Draft) -> list[Draft] | None:
        """Of a call that is started again what was folded of its first time; None for any other."""
        call = str(draft.data.get("call") or "")
        if draft.kind is not Kind.TOOL_STARTED or call not in self._calls:
            return None
        kinds = (Kind.TOOL_STARTED, Kind.TOOL_ENDED)
        more: tuple[dict[str, Any], ...] = ({}, {"ok": True})
        places, self._calls[call] = self._calls[call], ()
        return [
            replace(
                draft, kind=kind, data={**draft.data, **data}, native_id="",
                at=at, line=line, offset=offset, length=length, native=native,
            )
            for kind, data, (at, line, offset, length, native) in zip(
                kinds, more, places, strict=False
            )
        ]  # fmt: skip


class Stretch:
    """Plain work between two telling records of a file."""

    def __init__(self, ended: Ended) -> None:
        self._ended = ended
        self._lanes: dict[tuple[str, str, str], Lane] = {}
        self._count = 0
        self._since: float | None = None

    def over(self, draft: Draft, moment: float) -> bool:
        """Whether this draft belongs to the next stretch: it comes more than `moment` s later."""
        since, at = self._since, draft.at
        late = since is not None and at is not None and abs(at - since) > moment
        return late or self._count >= LONGEST_STRETCH

    def add(self, draft: Draft) -> None:
        """Take in a plain draft."""
        if self._since is None:
            self._since = draft.at
        self._count += 1
        sort = _CLOSES.get(draft.kind, draft.kind)
        lane = self._lanes.setdefault((sort.value, draft.agent, _word(draft)), Lane())
        again = self._ended.again(draft)
        if again is not None:
            lane.kept += [(self._count, one) for one in (*again, draft)]
        else:
            self._ended.fold(lane.add((self._count, draft)))

    def close(self) -> tuple[list[Draft], int]:
        """End it: what is kept of it, in order, and how many records were folded."""
        lanes, self._lanes = self._lanes, {}
        self._count, self._since = 0, None
        placed = [one for lane in lanes.values() for one in lane.close()]
        placed.sort(key=lambda one: one[0])
        return [draft for _, draft in placed], sum(lane.folded for lane in lanes.values())
