"""How a script's actions are called on omnigent: sessions below a session, and an inbox."""

from __future__ import annotations

from typing import Any

from fakes.dialect import ModelRequest, ToolCall
from fakes.script import Child, Task
from fakes.tools import first_group, ids_by_call

SEND, READ = "sys_session_send", "sys_read_inbox"
EVERYTHING = frozenset(
    (
        *("sys_session_list", "sys_session_get_history", "sys_session_get_info", SEND),
        *("sys_session_close", "sys_session_create", "sys_session_rename", "sys_session_share"),
        *("sys_agent_get", "sys_agent_download", "sys_agent_list", "sys_list_models"),
        *("sys_call_async", READ, "sys_cancel_async", "sys_cancel_task", "sys_advise_models"),
        *("sys_add_policy", "sys_policy_registry", "list_comments", "update_comment"),
        *("sys_scheduled_task_create", "sys_scheduled_task_list"),
        *("sys_scheduled_task_update", "sys_scheduled_task_delete"),
        *("browser_navigate", "browser_snapshot", "browser_click", "browser_type"),
        *("browser_screenshot", "load_skill", "read_skill_file", "search_conversations"),
        *("sys_timer_set", "sys_timer_cancel", "export_agent"),
    )
)
"""What its versions advertise to an agent without a shell."""
_HANDLE = first_group(r"""["'](?:conversation_id|task_id)["']: ?["']([\w-]{1,80})["']""")
"""The harness hands an output that is an object on as Python writes it."""


def worker(level: int) -> str:
    """The kind of sub-agent at a depth, from 1: no name may stand twice in the tree."""
    return "worker" if level == 1 else f"worker{level}"


class Tools:
    """The one table: every sub-agent runs in the background and reports to the inbox."""

    def delegate(self, task: Task) -> ToolCall:
        """Start a sub-agent; the call returns at once."""
        return ToolCall(SEND, _send(task.path, task.prompt, task.model))

    def wait(self, child: Child) -> ToolCall | None:
        """Fetch what came, once the parent was woken; before that its turn ends."""
        return ToolCall(READ, {}) if child.announced else None

    def poll(self, child: Child) -> ToolCall | None:
        """Look at the sub-agent's session."""
        return ToolCall("sys_session_get_info", {"session_id": child.id}) if child.id else None

    def message(self, child: Child, text: str) -> ToolCall | None:
        """The same kind of sub-agent with the same title is the same session."""
        return ToolCall(SEND, _send(child.path, text))

    def cancel(self, child: Child) -> ToolCall | None:
        """Stop the sub-agent's turn."""
        return ToolCall("sys_cancel_task", {"task_id": child.id}) if child.id else None

    def work(self, form: str) -> ToolCall | None:
        """Something harmless; it has no tool that is silent, or asks, without a shell."""
        return ToolCall("sys_agent_list", {}) if form == "note" else None

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Ids by path: the marker in a call, the session in its output."""
        return ids_by_call(request, _HANDLE, (SEND,))


def _send(path: str, text: str, model: str = "") -> dict[str, Any]:
    given = {"input": text, **({"model": model} if model else {})}
    title = f"lifeline-{path.replace('.', '-')}"
    return {"agent": worker(path.count(".") + 1), "title": title, "args": given}
