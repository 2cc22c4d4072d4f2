"""How a script's actions are called on OpenCode: ``task``, and a few harmless tools."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fakes.dialect import ModelRequest, ToolCall
from fakes.script import Child, Task
from fakes.tools import COMMANDS, first_group, ids_by_call

EVERYTHING = frozenset(
    (
        *("task", "task_status", "bash", "read", "glob", "grep", "edit", "write", "apply_patch"),
        *("webfetch", "websearch", "codesearch", "todowrite", "todoread", "skill", "question"),
        *("list", "patch", "multiedit", "batch", "lsp", "invalid", "StructuredOutput"),
        *("plan_enter", "plan_exit"),
    )
)
"""What versions advertise, and ``invalid``, which they run in place of a call they cannot."""
_CHILD = first_group(r"<task id=\"([\w-]{1,80})\"|task_id:\s*([\w-]{1,80})")


@dataclass(frozen=True, slots=True)
class Tools:
    """One run's table. `background`: whether this run lets sub-agents run in the background."""

    agent_type: str = "general"
    background: bool = False

    def delegate(self, task: Task) -> ToolCall:
        """Start a sub-agent. Its model cannot be chosen by the caller."""
        given = self._task(task.name, task.prompt)
        if self.background and task.background:
            given["background"] = True
        return ToolCall("task", given)

    def wait(self, child: Child) -> ToolCall | None:
        """None: a foreground task is waited for by its call; a background one reports itself."""
        return None

    def poll(self, child: Child) -> ToolCall | None:
        """None: there is no such tool."""
        return None

    def message(self, child: Child, text: str) -> ToolCall | None:
        """Go on with an earlier sub-agent, by the id that its answer named."""
        if not child.id:
            return None
        return ToolCall("task", {**self._task("follow-up", text), "task_id": child.id})

    def cancel(self, child: Child) -> ToolCall | None:
        """None: a model cannot stop a sub-agent; only a client can abort a session."""
        return None

    def work(self, form: str) -> ToolCall | None:
        """A harmless command of the fixed table."""
        if form not in COMMANDS:
            return None
        command, why = COMMANDS[form]
        return ToolCall("bash", {"command": command, "description": why})

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Ids by path: the marker in a ``task`` call's prompt, the session in its output."""
        return ids_by_call(request, _CHILD, ("task",))

    def _task(self, name: str, prompt: str) -> dict[str, Any]:
        return {"description": name, "prompt": prompt, "subagent_type": self.agent_type}
