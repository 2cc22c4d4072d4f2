"""How a script's actions are called on Copilot: ``task``, ``read_agent``, ``write_agent``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fakes.dialect import ModelRequest, ToolCall
from fakes.script import Child, Task
from fakes.tools import COMMANDS, first_group, ids_by_call

SETS: dict[str, tuple[str, ...]] = {
    "task": ("task",),
    "agents": ("task", "read_agent", "write_agent", "list_agents"),
    "all": (),
}
"""What ``--available-tools`` names, by the option ``tools``; empty: everything there is."""
EVERYTHING = frozenset(
    (
        *("task", "read_agent", "write_agent", "list_agents"),
        *("bash", "write_bash", "read_bash", "stop_bash", "list_bash"),
        *("apply_patch", "view", "edit", "create", "rg", "grep", "glob"),
        *("skill", "sql", "session_store_sql", "report_intent", "fetch_copilot_cli_documentation"),
    )
)
"""What versions advertise when nothing is held back."""
WRITE_AGENT = (1, 0, 73)
"""The first version with an agent that takes follow-ups."""
LONGEST_WAIT = 180
"""Seconds that ``read_agent`` waits at most."""

_STARTED = first_group(r"agent_id: ([A-Za-z0-9_-]+(?:\.[A-Za-z0-9_-]+)*)")


@dataclass(frozen=True, slots=True)
class Tools:
    """One version's table. `offered`: the option ``tools``, which says what a run advertises."""

    release: tuple[int, ...]
    offered: str = "task"
    agent_type: str = "general-purpose"

    def delegate(self, task: Task) -> ToolCall:
        """Start a sub-agent; a name is required and becomes its id up to 1.0.60."""
        given: dict[str, Any] = {
            "name": task.name,
            "agent_type": self.agent_type,
            "description": "Answer one short task",
            "mode": "background" if task.background else "sync",
            "prompt": task.prompt,
        }
        if task.model:
            given["model"] = task.model
        return ToolCall("task", given)

    def wait(self, child: Child) -> ToolCall | None:
        """Wait for it, as long as the tool does; None where the run offers no such tool."""
        if self.offered == "task":
            return None
        return ToolCall(
            "read_agent", {"agent_id": self._id(child), "wait": True, "timeout": LONGEST_WAIT}
        )

    def poll(self, child: Child) -> ToolCall | None:
        """Read what it has said so far."""
        if self.offered == "task":
            return None
        return ToolCall("read_agent", {"agent_id": self._id(child)})

    def message(self, child: Child, text: str) -> ToolCall | None:
        """Give it more work; older versions have no tool for it."""
        if self.offered == "task" or self.release < WRITE_AGENT:
            return None
        return ToolCall("write_agent", {"agent_id": self._id(child), "message": text})

    def cancel(self, child: Child) -> ToolCall | None:
        """None: no version gives the model a tool that stops a sub-agent."""
        return None

    def work(self, form: str) -> ToolCall | None:
        """A harmless command of the fixed table; only where a run offers all tools."""
        if self.offered == "agents" and form == "note":
            return ToolCall("list_agents", {})
        if self.offered != "all" or form not in COMMANDS:
            return None
        command, why = COMMANDS[form]
        return ToolCall("bash", {"command": command, "description": why})

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Ids by path: the marker in the prompt of a ``task`` call, the id in its output."""
        return ids_by_call(request, _STARTED, ("task",))

    def _id(self, child: Child) -> str:
        return child.id or f"lifeline-{child.path.replace('.', '-')}"
