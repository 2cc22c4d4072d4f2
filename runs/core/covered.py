"""Stretches of time in which something was open, and what they leave of another stretch."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator


class Covered:
    """Stretches as (start, stop) in any order; what overlaps is one."""

    def __init__(self, stretches: Iterable[tuple[float, float]]) -> None:
        self._starts: list[float] = []
        self._stops: list[float] = []
        self._before: list[float] = []
        """Seconds covered before each stretch."""
        for start, stop in sorted(stretches):
            if self._stops and start <= self._stops[-1]:
                self._stops[-1] = max(self._stops[-1], stop)
            elif stop > start:
                last = self._stops[-1] - self._starts[-1] if self._stops else 0.0
                self._before.append((self._before[-1] if self._before else 0.0) + last)
                self._starts.append(start)
                self._stops.append(stop)

    def within(self, start: float, end: float) -> float:
        """Seconds from `start` to `end` that are covered."""
        return self._until(end) - self._until(start)

    def _until(self, at: float) -> float:
        place = bisect_right(self._starts, at) - 1
        if place < 0:
            return 0.0
        return self._before[place] + min(at, self._stops[place]) - self._starts[place]

    def gaps(self, start: float, end: float) -> Iterator[tuple[float, float]]:
        """What is left of the stretch from `start` to `end`, piece by piece."""
        place = bisect_right(self._stops, start)
        while start < end:
            begin = self._starts[place] if place < len(self._starts) else end
            if begin > start:
                yield start, min(begin, end)
            if begin >= end:
                return
            start, place = self._stops[place], place + 1
