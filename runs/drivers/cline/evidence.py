"""The evidence of a run while it goes on: the stream alone names whom a call started."""

from __future__ import annotations

from runs.transcripts.cline_messages import ClineMessages
from runs.transcripts.cline_stdout import ClineStdout

Children = dict[str, str]
"""Sub-agents by the call of ``spawn_agent`` that started each."""


class LiveStdout(ClineStdout):
    """The stream, which tells whom a call started."""

    def __init__(self, file: str, children: Children) -> None:
        super().__init__(file)
        self.children = children


class LiveMessages(ClineMessages):
    """A stored conversation, which is read when the stream is over."""

    def __init__(self, file: str, children: Children) -> None:
        super().__init__(file)
        self._children = children

    def child_of(self, call: str) -> str:
        """By what the stream said."""
        return self._children.get(call, "")
