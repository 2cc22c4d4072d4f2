"""How a script's actions are called on OpenCode: ``task``, and a few harmless tools."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fakes.dialect import ModelRequest, ToolCall
from fakes.script import Child, Task
from fakes.targeting import TASK_PATTERN

EVERYTHING = frozenset(
    (
        *("task", "task_status", "bash", "read", "glob", "grep", "edit", "write", "apply_patch"),
        *("webfetch", "websearch", "codesearch", "todowrite", "todoread", "skill", "question"),
        *("list", "patch", "multiedit", "batch", "lsp", "invalid", "StructuredOutput"),
        *("plan_enter", "plan_exit"),
    )
)
"""What versions advertise, and ``invalid``, which they run in place of a call they cannot."""
_CHILD = re.compile(r"<task id=\"([\w-]{1,80})\"|task_id:\s*([\w-]{1,80})")
_BASH = {
    "note": ("true", "Does nothing"),
    "quiet": ("sleep 3", "Waits three seconds"),
    "ask": ("touch lifeline-asked", "Makes an empty file"),
}


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
        if form not in _BASH:
            return None
        command, why = _BASH[form]
        return ToolCall("bash", {"command": command, "description": why})

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Ids by path: the marker in a ``task`` call's prompt, the session in its output."""
        paths: dict[str, str] = {}
        found: dict[str, str] = {}
        for turn in request.turns:
            for call in turn.tool_calls:
                marker = TASK_PATTERN.search(str(call.arguments.get("prompt", "")))
                if call.name == "task" and marker:
                    paths[call.id] = marker[1]
            if turn.role == "tool" and turn.call_id in paths:
                named = _CHILD.search(turn.text[:4000])
                if named:
                    found[paths[turn.call_id]] = named[1] or named[2]
        return found

    def _task(self, name: str, prompt: str) -> dict[str, Any]:
        return {"description": name, "prompt": prompt, "subagent_type": self.agent_type}
