"""Which sub-agent a path in the tree names: of two sessions in a case each has its own."""

from __future__ import annotations

from collections import defaultdict

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

    def add(self, start: Draft, at: float | None) -> None:
        """The start of a sub-agent."""
        path, parent = str(start.data.get("path") or ""), str(start.data.get("parent") or "")
        if parent:
            self._parents.setdefault(start.agent, parent)
        if path:
            self._agents[path].setdefault(start.agent, at)

    def answer(self, answered: Draft, at: float | None) -> None:
        """A spawn that was answered with a path, after all starts: one without a file is there
        under its path."""
        path = str(answered.data.get("child") or "")
        if path in self._agents and not self.of(path, answered.agent, at, begins=True):
            self._agents[path].setdefault(path, at)
            self._parents.setdefault(path, answered.agent)

    def of(self, path: str, by: str, at: float | None, begins: bool = False) -> str:
        """The agent of its own tree that `by` means with a path at that time; empty where none has
        it: the last one that had begun, or where it `begins` the one that does so nearest."""
        found = self._agents.get(path)
        if not found:
            return ""
        top = self._top(by)
        mine = [(begun, name) for name, begun in found.items() if self._top(name) == top]
        timed = [(begun, name) for begun, name in mine if begun is not None]
        if at is None or not timed or len(timed) < len(mine):
            return mine[0][1] if mine else ""
        if begins:
            gap, name = min((abs(begun - at), name) for begun, name in timed)
            return name if gap <= NEAR else ""
        return max((one for one in timed if one[0] <= at + SLACK), default=(0.0, ""))[1]

    def _top(self, agent: str) -> str:
        for _ in range(len(self._parents) + 1):
            if agent not in self._parents:
                break
            agent = self._parents[agent]
        return agent
