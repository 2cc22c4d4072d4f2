"""The evidence of a run while it goes on: stream and files share who works on which prompt.

The stream names a call and not its sub-agent; a sub-agent's file names the sub-agent and not
its call. Both have the prompt.
"""

from __future__ import annotations

from runs.transcripts.gemini_chat import GeminiChat
from runs.transcripts.gemini_stdout import GeminiStdout


class Children:
    """Sub-agents by their prompt, in the order in which they began."""

    def __init__(self) -> None:
        self._free: dict[str, list[str]] = {}

    def begins(self, child: str, prompt: str) -> None:
        """A sub-agent's file has its prompt."""
        self._free.setdefault(prompt[:4000], []).append(child)

    def take(self, prompt: str) -> str:
        """The first one with this prompt that nobody took; empty where there is none."""
        waiting = self._free.get(prompt, [])
        return waiting.pop(0) if waiting else ""


class LiveChat(GeminiChat):
    """A session file that tells who works on what."""

    def __init__(self, file: str, children: Children) -> None:
        super().__init__(file)
        self._children = children

    def prompted(self, prompt: str) -> None:
        """Tells the stream's reader."""
        self._children.begins(self.agent, prompt)


class LiveStdout(GeminiStdout):
    """The stream, with the names of the sub-agents that its calls started.

    Where a call has ended before the file was read, its end is told when the stream is over.
    """

    def __init__(self, file: str, children: Children) -> None:
        super().__init__(file)
        self._children = children
        self._prompt = ""
        self._late: list[tuple[str, str, str, float | None]] = []

    def child_of(self, prompt: str) -> str:
        """By the prompt."""
        self._prompt = prompt
        return self._children.take(prompt)

    def spawned(self, call: str, word: str, child: str) -> None:
        """Now, or at the end."""
        if child:
            super().spawned(call, word, child)
        else:
            self._late.append((call, word, self._prompt, self.at))

    def finish(self) -> None:
        """What could not be named before."""
        for call, word, prompt, at in self._late:
            self.at = at
            super().spawned(call, word, self._children.take(prompt))
