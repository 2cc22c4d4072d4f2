"""Fewer bars, marks and samples for a long lane: neighbours are merged and counted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from runs.core.events import Event
    from runs.core.history import History

SAMPLE_LIMIT = 600
_WORST = ("ok", "run", "wait", "unknown", "bad")


def _worse(one: str, other: str) -> str:
    return max(one, other, key=lambda tone: _WORST.index(tone) if tone in _WORST else 0)


def thin_marks(marks: Sequence[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """At most about `limit` marks: those of one moment become one that says how many."""
    if len(marks) <= limit:
        return sorted(marks, key=lambda mark: mark["t"])
    low = min(mark["t"] for mark in marks)
    high = max(mark["t"] for mark in marks)
    step = (high - low) / limit or 1.0
    cells: dict[int, dict[str, Any]] = {}
    for mark in marks:
        cell = min(int((mark["t"] - low) / step), limit - 1)
        if cell not in cells:
            cells[cell] = mark | {"count": 1}
            continue
        merged = cells[cell]
        merged["count"] += 1
        merged["kind"] = "many"
        merged["label"] = f"{merged['count']} events"
        merged["tone"] = _worse(merged["tone"], mark["tone"])
    return [cells[cell] for cell in sorted(cells)]


def thin_bars(bars: Sequence[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """At most about `limit` bars: short neighbours become one that says how many they are."""
    ordered = sorted(bars, key=lambda bar: bar["start"])
    if len(ordered) <= limit:
        return ordered
    low = ordered[0]["start"]
    high = max(bar["end"] if bar["end"] is not None else bar["start"] for bar in ordered)
    step = (high - low) / limit or 1.0
    kept: list[dict[str, Any]] = []
    cells: dict[int, dict[str, Any]] = {}
    for bar in ordered:
        long = bar["end"] is None or bar["end"] - bar["start"] > step
        cell = min(int((bar["start"] - low) / step), limit - 1)
        if long:
            kept.append(bar)
        elif cell not in cells:
            cells[cell] = bar | {"count": 1}
        else:
            merged = cells[cell]
            merged["count"] += 1
            merged["kind"] = "many"
            merged["label"] = f"{merged['count']} bars"
            merged["end"] = max(merged["end"], bar["end"])
            merged["end_seq"] = bar["end_seq"]
            merged["tone"] = _worse(merged["tone"], bar["tone"])
    return sorted([*kept, *cells.values()], key=lambda bar: bar["start"])


def thin_gaps(gaps: Sequence[dict[str, Any]], limit: int) -> list[dict[str, Any]]:
    """The `limit` longest gaps, in order."""
    longest = sorted(gaps, key=lambda gap: gap["start"] - gap["end"])[:limit]
    return sorted(longest, key=lambda gap: gap["start"])


def samples(events: Sequence[Event], history: History) -> list[list[float]]:
    """``[t, rss, cpu]`` of the process tree, at most `SAMPLE_LIMIT`, each the highest of its cell.

    An empty cell is left out. `rss` is in bytes, `cpu` in percent of one core.
    """
    rows = [
        [history.time(event), _number(event.get("rss")), _number(event.get("cpu"))]
        for event in events
    ]
    if len(rows) <= SAMPLE_LIMIT:
        return rows
    low, high = rows[0][0], rows[-1][0]
    step = (high - low) / SAMPLE_LIMIT or 1.0
    cells: dict[int, list[float]] = {}
    for row in rows:
        cell = min(int((row[0] - low) / step), SAMPLE_LIMIT - 1)
        best = cells.setdefault(cell, list(row))
        best[1], best[2] = max(best[1], row[1]), max(best[2], row[2])
    return [cells[cell] for cell in sorted(cells)]


def _number(value: object) -> float:
    return float(value) if isinstance(value, (int, float)) else 0.0
