"""The child calls a tool that must be permitted."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.dialect import Reply
from fakes.scripts._delegation import Delegation, Talk


@dataclass(frozen=True)
class ChildAsks(Delegation):
    """One child that raises a question."""

    name = "child-asks"
    title = "Child asks for a permission"
    sentence = "The child calls a tool that somebody must permit, and answers when that is done."

    def child(self, talk: Talk) -> Reply:
        call = talk.tools.work("ask")
        if call is not None and not talk.calls:
            return Reply(tool_calls=(call,))
        return super().child(talk)


SCRIPT = ChildAsks
