"""The parent's turn ends while its children still run."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fakes.dialect import Reply
from fakes.script import Task, task
from fakes.scripts._delegation import Delegation, Talk
from fakes.settings import setting


@dataclass(frozen=True)
class ParentEndsEarly(Delegation):
    """Children that outlive their parent's turn."""

    name = "parent-ends-early"
    title = "Parent ends early"
    sentence = "The parent answers at once; its children answer only after that."

    children: int = setting(1, "How many children.", low=1, high=16)
    child_first: float = setting(
        2.0, "Pause between the parent's answer and the children's.", unit="s", low=0, high=600
    )

    def tasks(self) -> tuple[Task, ...]:
        return tuple(task(str(n), model=self.child_model) for n in range(1, self.children + 1))

    def parent(self, talk: Talk, below: list[Task]) -> Reply:
        return self.report(talk, below)

    def child(self, talk: Talk) -> Reply:
        return replace(super().child(talk), after=("parent answered",), patience=30.0)


SCRIPT = ParentEndsEarly
