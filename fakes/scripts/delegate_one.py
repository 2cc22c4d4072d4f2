"""The parent delegates one task to a background child, and the child answers."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.script import Task, task
from fakes.scripts._delegation import Delegation
from fakes.settings import setting


@dataclass(frozen=True)
class DelegateOne(Delegation):
    """One child."""

    name = "delegate-one"
    title = "Delegate one"
    sentence = "The parent delegates one task to a background child; the child answers."

    background: bool = setting(True, "Whether the child runs in the background.")

    def tasks(self) -> tuple[Task, ...]:
        return (task("1", background=self.background, model=self.child_model),)


SCRIPT = DelegateOne
