"""The parent delegates one task in the foreground: the tool's output is the result."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.script import Task, task
from fakes.scripts._delegation import Delegation


@dataclass(frozen=True)
class DelegateSync(Delegation):
    """One child in the foreground."""

    name = "delegate-sync"
    title = "Delegate in the foreground"
    sentence = "The parent delegates one task and gets its result as the tool's output."

    def tasks(self) -> tuple[Task, ...]:
        return (task("1", background=False, model=self.child_model),)


SCRIPT = DelegateSync
