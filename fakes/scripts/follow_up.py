"""The child gets more work after it has ended."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.dialect import Reply
from fakes.script import Task
from fakes.scripts._delegation import Delegation, Talk


@dataclass(frozen=True)
class FollowUp(Delegation):
    """One child that is asked twice."""

    name = "follow-up"
    title = "Follow-up after the end"
    sentence = "When the child has ended, the parent sends it a message, and it answers again."

    def parent(self, talk: Talk, below: list[Task]) -> Reply:
        if not self.told(talk, below):
            return super().parent(talk, below)
        children = [talk.child(each.path) for each in below]
        messages = [talk.tools.message(child, "Please say it once more.") for child in children]
        call = talk.first_new(messages)
        if call is None and any(message is not None for message in messages):
            call = talk.first_new([talk.tools.wait(child) for child in children] * 2)
        if call is not None:
            return Reply(tool_calls=(call,))
        return self.report(talk, below)


SCRIPT = FollowUp
