"""Which sub-agent a path in the tree names: of two sessions in a case each has its own."""

from __future__ import annotations

from collections import defaultdict

from runs.core.events import Draft


class Paths:
    """The paths of all sub-agents that say theirs when they start."""

    def __init__(self) -> None:
        self._agents: dict[str, list[str]] = defaultdict(list)
        self._parents: dict[str, str] = {}

    def add(self, start: Draft) -> None:
        """The start of a sub-agent."""
        path, parent = str(start.data.get("path") or ""), str(start.data.get("parent") or "")
        if parent:
            self._parents.setdefault(start.agent, parent)
        if path and start.agent not in self._agents[path]:
            self._agents[path].append(start.agent)

    def of(self, path: str, by: str) -> str:
        """The agent of its own tree that `by` means with a path; empty where none has it."""
        top = self._top(by)
        return next((one for one in self._agents.get(path, ()) if self._top(one) == top), "")

    def _top(self, agent: str) -> str:
        for _ in range(len(self._parents) + 1):
            if agent not in self._parents:
                break
            agent = self._parents[agent]
        return agent
