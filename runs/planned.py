"""The planned timeline of a scenario: the rehearsed calls with the faults laid over them.

Columns are steps, not seconds: what waits for something stands to the right of it. A call
that a fault breaks is drawn once for each attempt that is aimed at, and once more for the
attempt that may follow. Which attempts an agent really makes is what a run finds out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from fakes.script import Script
from fakes.targeting import AimedFault
from runs.rehearsal import Lane, rehearse

ATTEMPTS = 8
"""Attempts of one call that are drawn at most; "all" is drawn as three and an ellipsis."""
EVERY = 3
MAX_COLUMNS = 64


@dataclass(frozen=True, slots=True)
class Box:
    """One attempt of one call. `tone`: ok, cut, late (bent, but whole), maybe, unreached.

    `fault` is the position of the fault that hits it; None: nothing does.
    """

    caller: str
    call: int
    attempt: int
    does: str
    tone: str = "ok"
    fault: int | None = None
    name: str = ""
    share: float = 1.0


@dataclass(frozen=True, slots=True)
class Cell:
    """A stretch of a lane: `span` columns; a box, or what happens in between (`kind`)."""

    kind: str
    """box, more (further attempts or calls), waits, idle (before its start, after its end)"""
    span: int
    box: Box | None = None


@dataclass(slots=True)
class Row:
    """A lane of the drawing."""

    caller: str
    label: str
    depth: int
    cells: list[Cell] = field(default_factory=list)
    calls: int = 0
    """How many calls it makes; a target names a call only where there are several."""
    target: str = ""
    """How a fault's target names it: without a number where it is the only one of its kind."""


@dataclass(frozen=True, slots=True)
class Plan:
    """The drawing. `left`: callers that are not drawn; `missed`: faults that hit no box."""

    rows: tuple[Row, ...]
    columns: int
    left: int = 0
    missed: tuple[int, ...] = ()


def plan(script: Script, faults: Sequence[AimedFault]) -> Plan:
    """Rehearse the script and lay the faults over it."""
    played = rehearse(script)
    lanes = [_Drawn(lane, faults) for lane in played.lanes]
    _arrange(lanes)
    kinds = [drawn.lane.caller.partition(":")[0] for drawn in lanes]
    columns = min(max((lane.end for lane in lanes), default=0), MAX_COLUMNS)
    rows = [lane.row(columns) for lane in lanes]
    for row in rows:
        kind = row.caller.partition(":")[0]
        row.target = kind if kinds.count(kind) == 1 and not played.left else row.caller
    utility = _utility(faults, columns)
    if utility:
        rows.append(utility)
    hit = {c.box.fault for row in rows for c in row.cells if c.box}
    missed = tuple(n for n in range(len(faults)) if n not in hit) if not played.left else ()
    return Plan(tuple(rows), columns, played.left, missed)


def label(caller: str) -> str:
    """``child:2`` in words."""
    return caller.replace(":", " ")


def attempts(
    faults: Sequence[AimedFault], caller: str, call: int, does: str
) -> tuple[list[Box], bool]:
    """The attempts of one call as boxes, and whether it goes on like that (it never succeeds)."""
    boxes: list[Box] = []
    for attempt in range(1, ATTEMPTS + 1):
        words = does if attempt == 1 else "tries again"
        found = _hitting(faults, caller, call, attempt)
        if found is None:
            return [*boxes, Box(caller, call, attempt, words)], False
        aimed, whole = faults[found], not faults[found].fault.error_class()
        tone = "maybe" if aimed.target.share < 1 else "late" if whole else "cut"
        name, share = aimed.fault.name, aimed.target.share
        boxes.append(Box(caller, call, attempt, words, tone, found, name, share))
        if whole:
            return boxes, False
        if aimed.target.attempt.endswith(("all", "-")) and attempt >= EVERY:
            return boxes, True
    return boxes, True


def _hitting(faults: Sequence[AimedFault], caller: str, call: int, attempt: int) -> int | None:
    """The first fault that is aimed at this attempt, whatever the lot decides."""
    for number, aimed in enumerate(faults):
        target = replace(aimed.target, share=1.0)
        if target.hits(caller, call, attempt, target.form != "plain"):
            return number
    return None


class _Drawn:
    """A lane with its boxes and where its calls begin."""

    def __init__(self, lane: Lane, faults: Sequence[AimedFault]) -> None:
        self.lane = lane
        self.starts = [0] * len(lane.acts)
        self.boxes: list[list[Box]] = []
        self.endless: list[bool] = []
        lost = False
        for number, act in enumerate(lane.acts, start=1):
            boxes, endless = attempts(faults, lane.caller, number, act.does)
            if lost:
                boxes, endless = [replace(boxes[0], tone="unreached")], False
            lost = lost or endless
            self.boxes.append(boxes)
            self.endless.append(endless)

    def width(self, index: int) -> int:
        return len(self.boxes[index]) + self.endless[index]

    def ends(self, index: int) -> int:
        return self.starts[index] + self.width(index)

    @property
    def end(self) -> int:
        return (self.ends(len(self.starts) - 1) if self.starts else 0) + self.lane.cut

    def answers(self, nth: int) -> int:
        """Where its nth answer is there (or its failure)."""
        said = [n for n, act in enumerate(self.lane.acts) if act.does == "answers"]
        index = said[min(nth, len(said)) - 1] if said else len(self.starts) - 1
        return self.ends(index) if self.starts else 0

    def row(self, columns: int) -> Row:
        made = Row(self.lane.caller, label(self.lane.caller), self.lane.depth)
        made.calls = len(self.starts)
        made.cells = list(self._cells(columns))
        return made

    def _cells(self, columns: int) -> Iterator[Cell]:
        at, between = 0, "idle"
        for index, start in enumerate(self.starts):
            if start > at:
                yield Cell(between, start - at)
            between = "waits"
            for box in self.boxes[index]:
                yield Cell("box", 1, box)
            if self.endless[index]:
                yield Cell("more", 1)
            at = self.ends(index)
        if self.lane.cut:
            yield Cell("more", 1)
            at += 1
        if columns > at:
            yield Cell("idle", columns - at)


def _arrange(lanes: list[_Drawn]) -> None:
    """Move every call to the right until all that it waits for stands left of it."""
    by_path = {drawn.lane.path: drawn for drawn in lanes}
    by_caller = {drawn.lane.caller: drawn for drawn in lanes}
    for _ in range(MAX_COLUMNS):
        moved = False
        for drawn in lanes:
            for index in range(len(drawn.starts)):
                place = max(_bounds(drawn, index, by_path, by_caller))
                if drawn.starts[index] < place <= MAX_COLUMNS:
                    drawn.starts[index], moved = place, True
        if not moved:
            return


def _bounds(
    drawn: _Drawn, index: int, by_path: dict[str, _Drawn], by_caller: dict[str, _Drawn]
) -> Iterator[int]:
    yield 0
    act = drawn.lane.acts[index]
    if index == 0 and drawn.lane.path:
        yield _spawned(drawn.lane.path, by_path)
    if index:
        yield drawn.ends(index - 1)
        for path, nth in drawn.lane.acts[index - 1].hears:
            if path in by_path:
                yield by_path[path].answers(nth)
    if act.prompted:
        writer, number = act.prompted
        yield by_path[writer].ends(number - 1)
    for cue in act.cues:
        who, _, what = cue.partition(" ")
        if who in by_caller and by_caller[who] is not drawn:
            other = by_caller[who]
            yield _answered(other) if what == "answered" else other.starts[0] + 1


def _answered(drawn: _Drawn) -> int:
    """Where a caller has first said something that is not a call of a tool."""
    for index, act in enumerate(drawn.lane.acts):
        if act.does in ("answers", "reports", "ends its turn"):
            return drawn.ends(index)
    return drawn.end


def _spawned(path: str, by_path: dict[str, _Drawn]) -> int:
    above = by_path.get(path.rpartition(".")[0])
    if above is None:
        return 0
    for index, act in enumerate(above.lane.acts):
        if path in act.spawns:
            return above.ends(index)
    return 0


def _utility(faults: Sequence[AimedFault], columns: int) -> Row | None:
    """Titles and the like: drawn only where a fault is aimed at them."""
    if not any(aimed.target.caller == "utility" for aimed in faults):
        return None
    boxes, endless = attempts(faults, "utility", 1, "makes a title")
    cells = [Cell("box", 1, box) for box in boxes] + ([Cell("more", 1)] if endless else [])
    if columns > len(cells):
        cells.append(Cell("idle", columns - len(cells)))
    return Row("utility", "utility calls", 1, cells, 1, "utility")
