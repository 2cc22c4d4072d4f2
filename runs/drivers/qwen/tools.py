"""How a script's actions are called on Qwen Code."""

from __future__ import annotations

from fakes.dialect import ModelRequest, ToolCall
from fakes.script import Child, Task
from fakes.tools import COMMANDS, first_group, ids_by_call

EVERYTHING = frozenset(
    (
        *("agent", "edit", "get_goal", "update_goal", "glob", "grep_search", "list_agents"),
        *("notebook_edit", "read_file", "run_shell_command", "skill", "tool_call", "tool_search"),
        *("write_file", "loop_wakeup", "monitor", "read_mcp_resource", "report_findings"),
        *("web_fetch", "zoom_image", "send_message", "task_stop", "enter_worktree"),
        *("exit_worktree", "record_artifact", "cron_create", "cron_list", "cron_delete"),
        *("todo_write", "ask_user_question", "exit_plan_mode", "list_directory", "save_memory"),
    )
)
"""What it advertises by default, to its own model and to those of its sub-agents."""
_AGENT = first_group(r"\b(general-purpose-[\w.-]{1,80})")


class Tools:
    """One table for all versions."""

    def delegate(self, task: Task) -> ToolCall:
        """One task of its own; a sub-agent may start one in the foreground alone."""
        background = task.background and "." not in task.path
        return ToolCall(
            "agent",
            {
                "description": task.name,
                "prompt": task.prompt,
                "subagent_type": "general-purpose",
                "run_in_background": background,
            },
        )

    def wait(self, child: Child) -> ToolCall | None:
        """It has no such tool: the end is told."""
        return None

    def poll(self, child: Child) -> ToolCall | None:
        """The list of all that run."""
        return ToolCall("list_agents", {})

    def message(self, child: Child, text: str) -> ToolCall | None:
        """Give it more work; one that has ended is revived."""
        return _hidden("send_message", task_id=child.id, message=text) if child.id else None

    def cancel(self, child: Child) -> ToolCall | None:
        """Stop it."""
        return _hidden("task_stop", task_id=child.id) if child.id else None

    def work(self, form: str) -> ToolCall | None:
        """A harmless command of the fixed table; there is none that it asks about."""
        if form not in COMMANDS or form == "ask":
            return None
        given = {"command": COMMANDS[form][0], "is_background": False}
        return ToolCall("run_shell_command", given)

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Ids by path, where the output of a call names one."""
        return ids_by_call(request, _AGENT)


def _hidden(name: str, **given: str) -> ToolCall:
    """A tool that is not declared to the model: it is called through one that is."""
    return ToolCall("tool_call", {"name": name, "arguments": given})
