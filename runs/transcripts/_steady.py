"""The times of one file, as far as they can be believed.

A clock that was set back within a file is straightened; a single time that is far from all
others is replaced by its neighbours'; a line that merely stands out of order keeps its time.
Each such place is named as damage: what was measured across it is doubted later.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from runs.core.events import Draft, Kind

SPIKE = 60.0
"""Seconds by which a few times have to be ahead of all others to be called wrong."""
BLOCK = 30.0
"""Seconds by which several lines in a row are not just written late."""
LOOK_AHEAD = 6
"""Timed records within which a line that merely stands out of order is caught up with."""
DAY = 86_400.0
CLOCK, PLACE, WILD = "clock", "place", "time"
"""What is lost: the file's clock from here on, beside other files'; the place of one line, or its
time, for which it gets that of the line before."""


@dataclass(frozen=True, slots=True)
class Order:
    """In which order a file's lines stand.

    `jump`: seconds that their times may go back (several writers) before it is looked at; None:
    they stand in no order. `strict`: one line that goes back is worth a word. `loose`: the words
    of records that have the time of their making, not of their writing.
    """

    jump: float | None = 2.0
    strict: bool = True
    loose: frozenset[str] = frozenset()


class _Times:
    """The times of a file's lines, in their order."""

    def __init__(self, times: Sequence[float], order: Order, jump: float) -> None:
        self.times = list(times)
        self.order = order
        self.jump = jump
        self.marks: dict[int, str] = {}

    def settle(self) -> None:
        """Replace what cannot be believed, and mark where."""
        times, jump = self.times, self.jump
        if len(times) > 2 and abs(times[1] - times[0]) > DAY > abs(times[2] - times[1]):
            self.marks[0], times[0] = WILD, times[1]
        later = _latest_from(times)
        first = high = times[0] if times else 0.0
        shift = 0.0
        for place in range(1, len(times)):
            if shift and times[place] >= high - jump:
                shift = 0.0  # the clock is right again
            at = times[place] + shift
            if at >= high - jump:
                high = max(high, at)
            elif self._caught_up(place, high - shift):
                if at < first - jump:
                    self.marks[place] = WILD
                    at = high
                elif self.order.strict:
                    self.marks[place] = PLACE
            else:
                level = self._spike(place, at, high, later[place] + shift)
                if level is None:
                    self.marks[place] = CLOCK
                    shift += high - at
                    at = high
                else:
                    high = at = max(level, at)
            times[place] = at

    def _caught_up(self, place: int, high: float) -> bool:
        """Whether a line merely stands out of order: others soon go on from where it was.

        Several in a row that are far behind are no such thing where lines stand in order.
        """
        ahead = self.times[place : place + LOOK_AHEAD]
        if (self.order.strict or self.order.loose) and high - ahead[0] > BLOCK:
            ahead = ahead[:2]
        return max(ahead) >= high - self.jump

    def _spike(self, place: int, at: float, high: float, later: float) -> float | None:
        """The time before a few records that are ahead of all that follow; None: there are none."""
        if later >= high - SPIKE:
            return None
        begun = place
        while begun and self.times[begun - 1] > later + self.jump and place - begun < LOOK_AHEAD:
            begun -= 1
        level = self.times[begun - 1] if begun else None
        if level is None or begun == place or not level <= at + self.jump:
            return None
        for wrong in range(begun, place):
            self.times[wrong] = level
            self.marks[wrong] = WILD
        return level


def _latest_from(times: Sequence[float]) -> list[float]:
    """For each place the latest time from there on."""
    found = list(times)
    for place in range(len(found) - 2, -1, -1):
        found[place] = max(found[place], found[place + 1])
    return found


def steady(drafts: list[Draft], order: Order) -> list[Draft]:
    """The drafts of a file with times that can be believed, and what was wrong with them named."""
    if order.jump is None or _shuffled(drafts):
        return drafts
    lines = _lines(drafts, order.loose)
    before = [max(drafts[place].at or 0.0 for place in line) for line in lines]
    found = _Times(before, order, order.jump)
    found.settle()
    if not found.marks:
        return drafts
    settled = list(drafts)
    damage: dict[int, Draft] = {}
    said: set[int | None] = set()
    for number, line in enumerate(lines):
        shift = found.times[number] - before[number]
        for place in line if shift else ():
            settled[place] = replace(drafts[place], at=(drafts[place].at or 0.0) + shift)
        if number in found.marks:
            damage[line[0]] = _damage(settled[line[0]], found.marks[number])
            said.update(drafts[one[0]].line for one in lines[number : number + 2])
    return _with(settled, damage, said)


def _lines(drafts: Sequence[Draft], loose: frozenset[str]) -> list[list[int]]:
    """The places of the drafts that have a time, line by line."""
    lines: list[list[int]] = []
    for place, draft in enumerate(drafts):
        if draft.at is None or draft.kind is Kind.DAMAGE or draft.native in loose:
            continue
        if lines and drafts[lines[-1][-1]].line == draft.line:
            lines[-1].append(place)
        else:
            lines.append([place])
    return lines


def _with(drafts: Sequence[Draft], damage: dict[int, Draft], said: set[int | None]) -> list[Draft]:
    """The drafts with the damage before them; what their reader said of those lines goes."""
    found: list[Draft] = []
    for place, draft in enumerate(drafts):
        if place in damage:
            found.append(damage[place])
        if not (_is_backwards(draft) and draft.line in said):
            found.append(draft)
    return found


def _damage(draft: Draft, lost: str) -> Draft:
    detail = {
        CLOCK: "the clock was set back here",
        PLACE: "it stands behind later ones: its time or its place is wrong",
        WILD: "its time is far from all others: it has that of the line before",
    }[lost]
    data = {"what": "time-backwards", "repaired": False, "detail": detail, "lost": lost}
    return replace(draft, kind=Kind.DAMAGE, agent="", native="", native_id="", data=data)


def _is_backwards(draft: Draft) -> bool:
    """Whether it is the plain word of a reader that a time goes back."""
    return draft.kind is Kind.DAMAGE and draft.data.get("what") == "time-backwards"


def _shuffled(drafts: Sequence[Draft]) -> bool:
    return any(
        draft.kind is Kind.DAMAGE and draft.data.get("what") == "reordered" for draft in drafts
    )
