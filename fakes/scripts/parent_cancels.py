"""The parent stops its child while that is at work."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fakes.dialect import Reply
from fakes.script import Task, task
from fakes.scripts._delegation import Delegation, Talk
from fakes.settings import setting


@dataclass(frozen=True)
class ParentCancels(Delegation):
    """One child that is stopped; its siblings, if any, are left alone and waited for.

    Where a tool waits for whoever has news, word of the stop may end the first wait.
    """

    name = "parent-cancels"
    title = "Parent cancels"
    sentence = "The parent stops its first background child as soon as that has asked its model."

    child_first: float = setting(
        20.0, "Pause before the first byte of a child's answer.", unit="s", low=0, high=600
    )
    siblings: int = setting(0, "How many more children there are, not stopped.", low=0, high=15)

    def tasks(self) -> tuple[Task, ...]:
        paths = range(1, self.siblings + 2)
        return tuple(task(str(number), model=self.child_model) for number in paths)

    def parent(self, talk: Talk, below: list[Task]) -> Reply:
        call = talk.first_new([talk.tools.cancel(talk.child(below[0].path))])
        if call is not None:
            return replace(Reply(tool_calls=(call,)), after=("child:1 asked",), patience=30.0)
        wait = self.wait(talk, below[1:], rounds=2)
        if wait is not None:
            return Reply(tool_calls=(wait,))
        return self.report(talk, below)

    def told(self, talk: Talk, below: list[Task]) -> bool:
        return super().told(talk, below[1:])


SCRIPT = ParentCancels
