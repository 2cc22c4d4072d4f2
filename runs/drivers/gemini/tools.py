"""How a script's actions are called on Gemini CLI: ``invoke_agent``, and harmless commands."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.dialect import ToolCall
from fakes.script import Task
from fakes.tools import COMMANDS, Waits

EVERYTHING = frozenset(
    (
        *("invoke_agent", "complete_task", "list_directory", "read_file", "grep_search", "glob"),
        *("replace", "write_file", "web_fetch", "run_shell_command", "list_background_processes"),
        *("read_background_output", "google_web_search", "write_todos", "enter_plan_mode"),
        *("exit_plan_mode", "activate_skill", "update_topic", "save_memory", "ask_user"),
        *("read_many_files", "get_internal_docs", "tracker_create_task"),
    )
)
"""What versions advertise."""


@dataclass(frozen=True, slots=True)
class Tools(Waits):
    """One run's table. `agent`: the kind of sub-agent."""

    agent: str = "generalist"

    def delegate(self, task: Task) -> ToolCall:
        """Start a sub-agent and wait for it; there is no other form, and no choice of a model."""
        return ToolCall("invoke_agent", {"agent_name": self.agent, "prompt": task.prompt})

    def finish(self, text: str) -> ToolCall:
        """Hand in a sub-agent's answer; without this call it has failed, whatever it said."""
        return ToolCall("complete_task", {"result": {"response": text}})

    def work(self, form: str) -> ToolCall | None:
        """A harmless command of the fixed table."""
        if form not in COMMANDS:
            return None
        command, why = COMMANDS[form]
        return ToolCall("run_shell_command", {"command": command, "description": why})
