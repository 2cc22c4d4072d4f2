"""How a script's actions are called on Hermes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fakes.dialect import ModelRequest, ToolCall
from fakes.script import Task
from fakes.tools import COMMANDS, Waits, first_group, ids_by_call

EVERYTHING = frozenset(
    (
        *("delegate_task", "terminal", "process", "read_file", "write_file", "patch"),
        *("search_files", "todo", "memory", "session_search", "skills_list", "skill_view"),
        *("skill_manage", "clarify", "execute_code", "cronjob", "vision_analyze", "web_search"),
        *("web_extract", "close_terminal", "image_generate", "text_to_speech", "send_message"),
        *("kanban_show",),
        *("browser_back", "browser_click", "browser_console", "browser_get_images"),
        *("browser_navigate", "browser_press", "browser_scroll", "browser_snapshot"),
        *("browser_type", "browser_vision", "browser_cdp", "browser_dialog", "browser_close"),
        *("project_create", "project_list", "project_switch"),
        *("spawnAgent", "wait", "commandExecution", "collabAgentToolCall", "closeAgent"),
    )
)
"""What it advertises, and what its app-server's items are called."""
_DELEGATION = first_group(r'"(?:subagent_id|task_id|delegation_id)":\s*"([\w.-]{1,80})"')


@dataclass(frozen=True, slots=True)
class Tools(Waits):
    """The one table: delegation is a call that waits, so that nothing waits or polls.

    `nests`: whether this run's sub-agents may delegate themselves.
    """

    nests: bool = False

    def delegate(self, task: Task) -> ToolCall:
        """One task of its own."""
        given: dict[str, Any] = {"goal": task.prompt}
        if task.background:
            given["background"] = True
        if self.nests:
            given["role"] = "orchestrator"
        return ToolCall("delegate_task", given)

    def work(self, form: str) -> ToolCall | None:
        """A harmless command of the fixed table; there is none that it asks about."""
        if form not in COMMANDS or form == "ask":
            return None
        return ToolCall("terminal", {"command": COMMANDS[form][0]})

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Ids by path, where the output of a delegation names one."""
        return ids_by_call(request, _DELEGATION)
