"""How a script's actions are called on Claude Code: ``Agent``, ``SendMessage``, ``TaskStop``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from fakes.dialect import ModelRequest, ToolCall
from fakes.script import Child, Task
from fakes.tools import COMMANDS, first_group, ids_by_call

AGENT = (2, 1, 63)
"""The first version that calls its spawn tool ``Agent``; before it was ``Task``."""
SEND_MESSAGE = (2, 1, 220)
"""The first version measured to offer ``SendMessage`` without a team."""
TASK_OUTPUT = (2, 1, 220)
"""The last version measured to offer ``TaskOutput``."""
MODELS = ("haiku", "sonnet", "opus", "fable")
"""What its spawn tool takes for a model: words of its own, no names of models."""
EVERYTHING = frozenset(
    (
        *("Agent", "Task", "Bash", "Edit", "Read", "Write", "Glob", "Grep", "NotebookEdit"),
        *("AskUserQuestion", "EnterPlanMode", "ExitPlanMode", "EnterWorktree", "ExitWorktree"),
        *("CronCreate", "CronDelete", "CronList", "ScheduleWakeup", "Monitor", "ListAgents"),
        *("SendMessage", "TaskOutput", "TaskStop", "TaskCreate", "TaskGet", "TaskList"),
        *("TaskUpdate", "TodoWrite", "KillShell", "BashOutput", "ReportFindings", "Skill"),
        *("ToolSearch", "WebFetch", "WebSearch", "Workflow", "LSP", "MCPSearch", "SlashCommand"),
        *("ListMcpResourcesTool", "ReadMcpResourceTool", "RemoteTrigger", "PushNotification"),
        *("SendUserMessage", "DeferredToolPlaceholder", "StructuredOutput"),
        *("TeamCreate", "TeamDelete"),
    )
)
"""What versions advertise."""
_CHILD = first_group(r"agentId:\s*([0-9A-Za-z_-]{4,80})")


@dataclass(frozen=True, slots=True)
class Tools:
    """One version's table. `background`: see the option."""

    release: tuple[int, ...]
    background: str = "asked"
    agent_type: str = "general-purpose"

    def delegate(self, task: Task) -> ToolCall:
        """Start a sub-agent."""
        given: dict[str, Any] = {
            "description": task.name,
            "prompt": task.prompt,
            "subagent_type": self.agent_type,
        }
        if self.background == "asked":
            given["run_in_background"] = task.background
        if task.model:
            given["model"] = task.model if task.model in MODELS else MODELS[0]
        return ToolCall("Agent" if self.release >= AGENT else "Task", given)

    def wait(self, child: Child) -> ToolCall | None:
        """None: a foreground sub-agent is waited for by its call; others report themselves."""
        return None

    def poll(self, child: Child) -> ToolCall | None:
        """Ask how it is doing; where there is no tool for that, ask for the list of all."""
        if self.release > TASK_OUTPUT:
            return ToolCall("ListAgents", {})
        if not child.id:
            return None
        return ToolCall("TaskOutput", {"task_id": child.id, "block": False, "timeout": 1000})

    def message(self, child: Child, text: str) -> ToolCall | None:
        """Give it more work."""
        if not child.id or self.release < SEND_MESSAGE:
            return None
        return ToolCall("SendMessage", {"to": child.id, "summary": "more work", "message": text})

    def cancel(self, child: Child) -> ToolCall | None:
        """Stop it; only one that runs in the background can be stopped."""
        return ToolCall("TaskStop", {"task_id": child.id}) if child.id else None

    def work(self, form: str) -> ToolCall | None:
        """A harmless command of the fixed table."""
        if form not in COMMANDS:
            return None
        command, why = COMMANDS[form]
        return ToolCall("Bash", {"command": command, "description": why})

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Ids by path: the marker in a spawn call's prompt, ``agentId`` in its output."""
        return ids_by_call(request, _CHILD, ("Agent", "Task"))
