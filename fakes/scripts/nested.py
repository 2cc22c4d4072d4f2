"""A child delegates in its turn."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.script import Task, task
from fakes.scripts._delegation import Delegation
from fakes.settings import setting


@dataclass(frozen=True)
class Nested(Delegation):
    """Children of children."""

    name = "nested"
    title = "Nested delegation"
    sentence = "The parent delegates to a child, which delegates to a child of its own."

    depth: int = setting(2, "How many generations below the parent.", low=2, high=8)
    children: int = setting(1, "How many children each one has.", low=1, high=4)
    background: bool = setting(True, "Whether they run in the background.")

    def tasks(self) -> tuple[Task, ...]:
        paths = [""]
        found: list[str] = []
        for _ in range(self.depth):
            paths = [f"{p}.{n}".lstrip(".") for p in paths for n in range(1, self.children + 1)]
            found += paths
        return tuple(
            task(path, background=self.background, model=self.child_model) for path in found
        )


SCRIPT = Nested
