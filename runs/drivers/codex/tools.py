"""How a script's actions are called on Codex, by version and generation of its sub-agents."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fakes.dialect import ModelRequest, ToolCall
from fakes.script import Child, Task
from fakes.tools import COMMANDS, ids_by_call

NAMESPACED = (0, 121, 0)
"""The first version whose sub-agent tools stand in a namespace."""
INTERRUPTS = (0, 121, 0)
"""The first version of the second generation with ``interrupt_agent``."""
NAMESPACES = {"v1": "multi_agent_v1", "v2": "collaboration"}
EVERYTHING = frozenset(
    (
        *("exec_command", "write_stdin", "shell", "local_shell", "apply_patch", "update_plan"),
        *("view_image", "request_user_input", "get_goal", "create_goal", "update_goal"),
        *("web_search", "tool_search", "exec", "wait", "js_repl", "list_mcp_resources"),
        *("list_mcp_resource_templates", "read_mcp_resource", "request_permissions"),
        *("new_context", "get_context_remaining", "clock", "sleep"),
        *("spawn_agent", "wait_agent", "send_input", "resume_agent", "close_agent"),
        *("send_message", "followup_task", "interrupt_agent", "list_agents", "assign_task"),
        # The same in the words of exec's and the app-server's items.
        *("spawnAgent", "sendInput", "resumeAgent", "closeAgent", "sendMessage"),
        *("followupTask", "interruptAgent", "listAgents", "commandExecution"),
        *("command_execution", "fileChange", "file_change", "interrupt"),
    )
)
"""What versions advertise, and what they call it when it runs."""
_NAME = re.compile(r"[^a-z0-9_]+")


@dataclass(frozen=True, slots=True)
class Tools:
    """One version's table. `wait`: milliseconds that a parent waits for news at most."""

    release: tuple[int, ...]
    generation: str = "v2"
    wait_ms: int = 60_000
    asks: bool = False
    """Whether the run lets commands ask to leave the agent's own sandbox."""

    def _call(self, name: str, given: dict[str, Any]) -> ToolCall:
        space = NAMESPACES[self.generation] if self.release >= NAMESPACED else ""
        return ToolCall(name, given, namespace=space)

    def delegate(self, task: Task) -> ToolCall:
        """Start a sub-agent; the second generation names it."""
        given: dict[str, Any] = {"message": task.prompt}
        if self.generation == "v2":
            given["task_name"] = _task_name(task.path)
        if task.model:
            given["model"] = task.model
        return self._call("spawn_agent", given)

    def wait(self, child: Child) -> ToolCall:
        """Wait: for this child in the first generation, for any news in the second."""
        given: dict[str, Any] = {"timeout_ms": self.wait_ms}
        if self.generation == "v1":
            given["targets"] = [self._target(child)]
        return self._call("wait_agent", given)

    def poll(self, child: Child) -> ToolCall | None:
        """List the agents with their states; the first generation has no such tool."""
        return self._call("list_agents", {}) if self.generation == "v2" else None

    def message(self, child: Child, text: str) -> ToolCall:
        """Give it more work."""
        name = "followup_task" if self.generation == "v2" else "send_input"
        return self._call(name, {"target": self._target(child), "message": text})

    def cancel(self, child: Child) -> ToolCall:
        """Stop it."""
        later = self.generation == "v2" and self.release >= INTERRUPTS
        name = "interrupt_agent" if later else "close_agent"
        return self._call(name, {"target": self._target(child)})

    def work(self, form: str) -> ToolCall | None:
        """A harmless command of the fixed table."""
        if form not in COMMANDS:
            return None
        given = {"cmd": COMMANDS[form][0]}
        if form == "ask" and self.asks:
            given |= {"sandbox_permissions": "require_escalated", "justification": "May I?"}
        return ToolCall("exec_command", given)

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Ids by path: the marker in a spawn call's message, the id in its output."""
        return ids_by_call(request, _agent, ("spawn_agent",))

    def _target(self, child: Child) -> str:
        return child.id or (_task_name(child.path) if self.generation == "v2" else child.path)


def _task_name(path: str) -> str:
    """Lower-case letters, digits and underscores are allowed."""
    return _NAME.sub("_", f"lifeline_{path}")


def _agent(text: str) -> str:
    """The id in a spawn call's output: a thread's, or a path in the tree."""
    try:
        answer = json.loads(text[:10_000])
    except (ValueError, RecursionError):
        return ""
    if not isinstance(answer, Mapping):
        return ""
    return str(answer.get("agent_id") or answer.get("task_name") or "")
