"""The parent asks after its child early, before it waits."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.dialect import Reply
from fakes.script import Task
from fakes.scripts._delegation import Delegation, Talk
from fakes.settings import setting


@dataclass(frozen=True)
class ParentPolls(Delegation):
    """One child that is asked after."""

    name = "parent-polls"
    title = "Parent polls early"
    sentence = "The parent asks how its background child is doing while that is still at work."

    polls: int = setting(1, "How often it asks.", low=1, high=50)
    child_first: float = setting(
        2.0, "Pause before the first byte of a child's answer.", unit="s", low=0, high=600
    )

    def parent(self, talk: Talk, below: list[Task]) -> Reply:
        asked = [talk.tools.poll(talk.child(each.path)) for each in below]
        call = talk.first_new(asked * self.polls)
        if call is not None:
            return Reply(tool_calls=(call,))
        return super().parent(talk, below)


SCRIPT = ParentPolls
