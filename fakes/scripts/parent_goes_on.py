"""The parent works on and never waits for its child."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.dialect import Reply
from fakes.script import Task
from fakes.scripts._delegation import Delegation, Talk
from fakes.settings import setting


@dataclass(frozen=True)
class ParentGoesOn(Delegation):
    """One child that nobody waits for."""

    name = "parent-goes-on"
    title = "Parent goes on"
    sentence = "The parent does work of its own after delegating, and ends without waiting."

    steps: int = setting(2, "How many tool calls of its own it makes.", low=0, high=50)
    pace: float = setting(0.5, "Pause before each of them.", unit="s", low=0, high=60)

    def parent(self, talk: Talk, below: list[Task]) -> Reply:
        call = talk.first_new([talk.tools.work("note")] * self.steps)
        if call is not None:
            return Reply(tool_calls=(call,), first=self.pace)
        return self.report(talk, below)


SCRIPT = ParentGoesOn
