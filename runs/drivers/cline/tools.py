"""How a script's actions are called on Cline: ``spawn_agent`` or a team, and harmless commands."""

from __future__ import annotations

import re
from dataclasses import dataclass

from fakes.dialect import ModelRequest, ToolCall
from fakes.script import Child, Task, task
from fakes.tools import COMMANDS, Waits

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
_RUN = re.compile(r"runId\W{1,8}(run_\d{1,9})")


@dataclass(frozen=True, slots=True)
class Tools(Waits):
    """One run's table: sub-agents that ``spawn_agent`` starts and waits for."""

    def delegate(self, task: Task) -> ToolCall:
        """Start a sub-agent and wait for it; there is no other form, and no choice of a model."""
        role = f"You are the sub-agent {task.name}."
        return ToolCall("spawn_agent", {"systemPrompt": role, "task": task.prompt})

    def work(self, form: str) -> ToolCall | None:
        """A harmless command of the fixed table."""
        if form not in COMMANDS:
            return None
        return ToolCall("run_commands", {"commands": [COMMANDS[form][0]]})


@dataclass(frozen=True, slots=True)
class TeamTools(Tools):
    """Another table: teammates, each made by one call, and given a task by another.

    A task in the background is a run with an id, which can be waited for, looked at and stopped.
    """

    def recruit(self, task: Task) -> ToolCall:
        """Make a teammate."""
        role = f"You are the teammate {task.name}."
        return ToolCall("team_spawn_teammate", {"agentId": task.name, "rolePrompt": role})

    def delegate(self, task: Task) -> ToolCall:
        """Give a teammate its task, in the background where the script wants that."""
        mode = "async" if task.background else "sync"
        given = {"agentId": task.name, "task": task.prompt, "runMode": mode}
        return ToolCall("team_run_task", given)

    def wait(self, child: Child) -> ToolCall | None:
        """Wait for the child's last run."""
        return ToolCall("team_await_runs", {"runId": child.id} if child.id else {})

    def poll(self, child: Child) -> ToolCall | None:
        """Look at the child's runs."""
        return ToolCall("team_list_runs", {"agentId": _name(child)})

    def message(self, child: Child, text: str) -> ToolCall | None:
        """Give the teammate another task in the same conversation, as another run."""
        given = {"agentId": _name(child), "task": text, "runMode": "async"}
        return ToolCall("team_run_task", {**given, "continueConversation": True})

    def cancel(self, child: Child) -> ToolCall | None:
        """Stop the child's last run; it has to have one."""
        given = {"runId": child.id, "reason": "It is not needed any more."}
        return ToolCall("team_cancel_run", given) if child.id else None

    def children(self, request: ModelRequest) -> dict[str, str]:
        """The id of each child's last run."""
        asked: dict[str, str] = {}
        found: dict[str, str] = {}
        for turn in request.turns:
            for call in turn.tool_calls:
                if call.name == "team_run_task":
                    asked[call.id] = _path(str(call.arguments.get("agentId", "")))
            match = _RUN.search(turn.text) if turn.role == "tool" else None
            if match and turn.call_id in asked:
                found[asked[turn.call_id]] = match[1]
        return found


def _name(child: Child) -> str:
    """A teammate's name, which its task gave it."""
    return task(child.path).name


def _path(name: str) -> str:
    return name.removeprefix("lifeline-").replace("-", ".")
