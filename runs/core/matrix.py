"""The matrix: what the runs of one binary and one scenario add up to, and what changed between.

Pure: rows of runs in, cells and sentences out. Environment failures (a guard, a broken
start, invalid evidence, a lost worker) are counted apart: they say nothing about the agent.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from statistics import median
from typing import Any, TypedDict, cast

from runs import words

COUNTERS = ("outcomes", "diagnoses", "told", "terminals", "exits")
NEWEST = 12
"""Runs that a cell names."""


GOOD = ("healthy", "failed_and_reported")


class RunFacts(TypedDict):
    """What a cell needs of one run (stored beside the run)."""

    permalink: str
    imported: bool
    valid: bool
    outcome: str
    diagnosis: str
    broken: Sequence[str]
    attempts: int | None
    """Tries of the sub-agents' most tried call."""
    gaps: Sequence[float]
    """Shortest and longest gap between tries, in seconds."""
    slept: float | None
    """Seconds of waiting between tries that the agent reports."""
    told: str
    stdout: str
    session: str
    exit_code: int | None


class Cell(TypedDict):
    """One binary × one scenario. Counters are by value, most frequent first."""

    n: int
    valid: int
    imported: int
    outcomes: dict[str, int]
    diagnoses: dict[str, int]
    broken: dict[str, int]
    attempts: list[float] | None
    gaps: list[float] | None
    slept: list[float] | None
    told: dict[str, int]
    terminals: dict[str, int]
    exits: dict[str, int]
    runs: list[str]


def cell(rows: Sequence[RunFacts]) -> Cell:
    """The cell of these runs, newest first; n counts every ended run, `valid` those that speak."""
    speaking = [row for row in rows if row["valid"]]
    tries = [row["attempts"] for row in speaking if row["attempts"] is not None]
    gaps = [gap for row in speaking for gap in row["gaps"]]
    return Cell(
        n=len(rows),
        valid=len(speaking),
        imported=sum(row["imported"] for row in rows),
        outcomes=_counted(row["outcome"] for row in rows),
        diagnoses=_counted(row["diagnosis"] for row in rows),
        broken=by_law(_counted(law for row in speaking for law in row["broken"])),
        attempts=_spread(tries),
        gaps=_spread(gaps),
        slept=_spread([row["slept"] for row in speaking if row["slept"] is not None]),
        told=_counted(row["told"] for row in speaking),
        terminals=_counted(f"{row['stdout']} | {row['session']}" for row in speaking),
        exits=_counted(str(row["exit_code"]) for row in speaking),
        runs=[row["permalink"] for row in rows[:NEWEST]],
    )


def _counted(values: Iterable[str]) -> dict[str, int]:
    return by_count(Counter(value for value in values if value))


def by_count(counts: Mapping[str, int]) -> dict[str, int]:
    """Most frequent first. A database may give a counter back in another order."""
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def by_law(counts: Mapping[str, int]) -> dict[str, int]:
    """Laws in their order."""
    return dict(sorted(counts.items(), key=lambda item: int(item[0][1:])))


def restored(cell: Cell) -> Cell:
    """A stored cell with its counters in their order again."""
    counted = {key: by_count(cell[key]) for key in COUNTERS}  # type: ignore[literal-required]
    return cast(Cell, {**cell, **counted, "broken": by_law(cell["broken"])})


def _spread(values: Sequence[float]) -> list[float] | None:
    """[min, median, max], None without values."""
    if not values:
        return None
    return [round(min(values), 3), round(median(values), 3), round(max(values), 3)]


def most(counts: Mapping[str, int]) -> str:
    """The most frequent value, empty when there is none."""
    return next(iter(counts), "")


def spoken(cell: Cell) -> dict[str, int]:
    """Its diagnoses without the environment's failures, which say nothing about the agent.

    Most frequent first; of equally frequent ones a failure comes before what is well.
    """
    found = [(name, n) for name, n in cell["diagnoses"].items() if name != "environment"]
    return dict(sorted(found, key=lambda item: (-item[1], item[0] in GOOD, item[0])))


ASPECTS: tuple[tuple[str, Callable[[Cell], str]], ...] = (
    ("told the parent", lambda c: _quoted(most(c["told"]))),
    ("terminal", lambda c: most(c["terminals"])),
    ("diagnosis", lambda c: words.diagnosis(most(spoken(c)))[0]),
    ("broken", lambda c: " ".join(c["broken"]) or "none"),
    ("exit", lambda c: most(c["exits"])),
    ("attempts", lambda c: f"{c['attempts'][1]:g}" if c["attempts"] else "none"),
)
"""What is compared between two versions, and how it is said."""


def _quoted(word: str) -> str:
    return "nothing" if word in ("", "none") else f"“{word}”"


class Change(TypedDict):
    """What differs between two neighbouring versions in one scenario."""

    agent: str
    scenario: str
    before: str
    after: str
    words: str


def change(before: Cell, after: Cell) -> str:
    """``told the parent “idle” → nothing; exit 1 → 0``; empty when nothing differs."""
    if not (before["valid"] and after["valid"]):
        return ""
    return _difference(aspects(before), aspects(after))


def aspects(cell: Cell) -> tuple[str, ...]:
    """What is compared of a cell, in the order of `ASPECTS`."""
    return tuple(say(cell) for _, say in ASPECTS)


def _difference(before: tuple[str, ...], after: tuple[str, ...]) -> str:
    if before == after:
        return ""
    rows = zip(ASPECTS, before, after, strict=True)
    return "; ".join(f"{name} {old} → {new}" for (name, _), old, new in rows if old != new)


def changes(
    cells: Mapping[tuple[str, str, str], Cell], order: Callable[[str], Any]
) -> list[Change]:
    """The changes between neighbouring versions, by agent and scenario.

    Imports have no scenario: two of them differ in what was asked, so their versions say nothing.
    `cells` is by (agent, version, scenario); `order` is the sort key of versions.
    """
    columns: dict[tuple[str, str], list[str]] = defaultdict(list)
    for (agent, version, scenario), found in cells.items():
        if found["valid"] and scenario:
            columns[agent, scenario].append(version)
    keys = {version: order(version) for _, version, _ in cells}
    result = []
    for (agent, scenario), versions in columns.items():
        ordered = sorted(versions, key=keys.__getitem__)
        said = {version: aspects(cells[agent, version, scenario]) for version in ordered}
        for old, new in zip(ordered, ordered[1:], strict=False):
            told = _difference(said[old], said[new])
            if told:
                result.append(
                    Change(agent=agent, scenario=scenario, before=old, after=new, words=told)
                )
    return result
