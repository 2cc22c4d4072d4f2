"""How a script's actions are called on Cline: ``spawn_agent``, and a few harmless commands."""

from __future__ import annotations

from dataclasses import dataclass

from fakes.dialect import ModelRequest, ToolCall
from fakes.script import Child, Task

EVERYTHING = frozenset(
    (
        *("read_files", "search_codebase", "run_commands", "fetch_web_content", "editor"),
        *("ask_question", "apply_patch", "skills", "submit_and_exit", "spawn_agent"),
        *("team_spawn_teammate", "team_shutdown_teammate", "team_status", "team_task"),
        *("team_run_task", "team_cancel_run", "team_list_runs", "team_await_runs"),
        *("team_send_message", "team_broadcast", "team_read_mailbox", "team_mission_log"),
        *("team_cleanup", "team_create_outcome", "team_attach_outcome_fragment"),
        *("team_review_outcome_fragment", "team_finalize_outcome", "team_list_outcomes"),
    )
)
"""What a run advertises."""
_COMMANDS = {
    "note": "true",
    "quiet": "sleep 3",
    "ask": "touch lifeline-asked",
}


@dataclass(frozen=True, slots=True)
class Tools:
    """One run's table."""

    def delegate(self, task: Task) -> ToolCall:
        """Start a sub-agent and wait for it; there is no other form, and no choice of a model."""
        role = f"You are the sub-agent {task.name}."
        return ToolCall("spawn_agent", {"systemPrompt": role, "task": task.prompt})

    def wait(self, child: Child) -> ToolCall | None:
        """None: the spawning call waits."""
        return None

    def poll(self, child: Child) -> ToolCall | None:
        """None: the parent waits meanwhile."""
        return None

    def message(self, child: Child, text: str) -> ToolCall | None:
        """None: a sub-agent that has answered is gone."""
        return None

    def cancel(self, child: Child) -> ToolCall | None:
        """None: there is no such tool."""
        return None

    def work(self, form: str) -> ToolCall | None:
        """A harmless command of the fixed table."""
        if form not in _COMMANDS:
            return None
        return ToolCall("run_commands", {"commands": [_COMMANDS[form]]})

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Nothing: the tool's output does not name the sub-agent."""
        return {}
