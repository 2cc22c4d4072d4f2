"""The parent stops its child while that is at work."""

from __future__ import annotations

from dataclasses import dataclass, replace

from fakes.dialect import Reply
from fakes.script import Task
from fakes.scripts._delegation import Delegation, Talk
from fakes.settings import setting


@dataclass(frozen=True)
class ParentCancels(Delegation):
    """One child that is stopped."""

    name = "parent-cancels"
    title = "Parent cancels"
    sentence = "The parent stops its background child as soon as that has asked its model."

    child_first: float = setting(
        20.0, "Pause before the first byte of a child's answer.", unit="s", low=0, high=600
    )

    def parent(self, talk: Talk, below: list[Task]) -> Reply:
        call = talk.first_new(talk.tools.cancel(talk.child(each.path)) for each in below)
        if call is not None:
            return replace(Reply(tool_calls=(call,)), after=("child:1 asked",), patience=30.0)
        return self.report(talk, below)


SCRIPT = ParentCancels
