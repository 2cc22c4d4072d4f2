"""The child calls a tool before it answers."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.dialect import Reply
from fakes.scripts._delegation import Delegation, Talk
from fakes.settings import setting


@dataclass(frozen=True)
class ChildTool(Delegation):
    """One child that works."""

    name = "child-tool"
    title = "Child uses a tool"
    sentence = "The child calls a harmless tool, one or several times, and then answers."

    form: str = setting(
        "note", "note: trivial; quiet: silent for some seconds.", choices=("note", "quiet")
    )
    steps: int = setting(1, "How many tool calls.", low=1, high=100)

    def child(self, talk: Talk) -> Reply:
        call = talk.tools.work(self.form)
        if call is not None and len(talk.calls) < self.steps:
            return Reply(tool_calls=(call,))
        return super().child(talk)


SCRIPT = ChildTool
