"""How a script's actions are called on pi: the ``subagent`` tool of its example extension."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.dialect import ToolCall
from fakes.script import Task
from fakes.tools import COMMANDS, Waits

AGENT = "lifeline"
"""The only agent that a run defines."""
EVERYTHING = frozenset(
    ("read", "bash", "edit", "write", "grep", "find", "ls", "subagent"),
)
"""What a run advertises."""


@dataclass(frozen=True, slots=True)
class Tools(Waits):
    """One run's table."""

    def delegate(self, task: Task) -> ToolCall:
        """Start a sub-agent, a process of its own, and wait for it; there is no other form."""
        return ToolCall("subagent", {"agent": AGENT, "task": task.prompt})

    def work(self, form: str) -> ToolCall | None:
        """A harmless command of the fixed table."""
        return ToolCall("bash", {"command": COMMANDS[form][0]}) if form in COMMANDS else None
