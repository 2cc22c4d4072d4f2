"""Which sub-agent a path in the tree names: of two sessions in a case each has its own."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Sequence
from operator import itemgetter

from runs.core.events import Draft

SLACK = 1.0
"""Seconds by which the clocks of two files may differ about a start."""
NEAR = 10.0
"""Seconds within which a spawn's answer and the child's own start lie."""


class Paths:
    """The paths of all sub-agents that say theirs when they start. A name may be used again."""

    def __init__(self) -> None:
        self._agents: dict[str, dict[str, float | None]] = defaultdict(dict)
        self._parents: dict[str, str] = {}
        self._tops: dict[str, str] = {}
        self._trees: dict[str, dict[str, _Begun]] = {}

    def add(self, start: Draft, at: float | None) -> None:
        """The start of a sub-agent."""
        path, parent = str(start.data.get("path") or ""), str(start.data.get("parent") or "")
        self._add(path, start.agent, parent, at)

    def answer(self, answered: Draft, at: float | None) -> None:
        """A spawn that was answered with a path, after all starts: one without a file is there
        under its path."""
        path = str(answered.data.get("child") or "")
        if path in self._agents and not self.of(path, answered.agent, at, begins=True):
            self._add(path, path, answered.agent, at)

    def _add(self, path: str, agent: str, parent: str, at: float | None) -> None:
        if parent and agent not in self._parents:
            self._parents[agent] = parent
            self._tops, self._trees = {}, {}
        if path and agent not in self._agents[path]:
            self._agents[path][agent] = at
            self._trees.pop(path, None)

    def of(self, path: str, by: str, at: float | None, begins: bool = False) -> str:
        """The agent of its own tree that `by` means with a path at that time; empty where none has
        it: the last one that had begun, or where it `begins` the one that does so nearest."""
        if path not in self._agents:
            return ""
        if path not in self._trees:
            self._trees[path] = self._by_tree(path)
        mine = self._trees[path].get(self._top(by))
        if mine is None:
            return ""
        if at is None or not mine.timed:
            return mine.first
        return mine.nearest(at) if begins else mine.last(at)

    def _by_tree(self, path: str) -> dict[str, _Begun]:
        trees: dict[str, list[tuple[float | None, str]]] = defaultdict(list)
        for name, begun in self._agents[path].items():
            trees[self._top(name)].append((begun, name))
        return {top: _Begun(found) for top, found in trees.items()}

    def _top(self, agent: str) -> str:
        line: dict[str, None] = {}
        top = agent
        while top in self._parents and top not in line and top not in self._tops:
            line[top] = None
            top = self._parents[top]
        top = self._tops.get(top, top)
        self._tops.update(dict.fromkeys(line, top))
        return top


class _Begun:
    """The agents of one tree that have one path: the first that is named, and all by start."""

    def __init__(self, found: Sequence[tuple[float | None, str]]) -> None:
        self.first = found[0][1]
        self._starts = sorted((at, name) for at, name in found if at is not None)
        self.timed = len(self._starts) == len(found)

    def nearest(self, at: float) -> str:
        """The one that begins nearest to that time, empty where none does so near it."""
        after = bisect_left(self._starts, (at, ""))
        around = self._starts[after : after + 1]
        if after:
            around.append(self._starts[bisect_left(self._starts, (self._starts[after - 1][0], ""))])
        gap, name = min((abs(begun - at), name) for begun, name in around)
        return name if gap <= NEAR else ""

    def last(self, at: float) -> str:
        """The last one that had begun by then, empty where none had."""
        after = bisect_right(self._starts, at + SLACK, key=itemgetter(0))
        return self._starts[after - 1][1] if after else ""
