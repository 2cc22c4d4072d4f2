"""A plain table of tools, for the provider alone, for tests and for the reference agent.

    task {name, description, prompt, mode}     mode: background or sync
    wait {agent_id}   read {agent_id}   send {agent_id, text}   stop {agent_id}   work {form}

The output of ``task`` names the child as ``agent_id: ID``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from typing import Final

from fakes.dialect import ModelRequest, ToolCall, dumps
from fakes.script import Child, Task
from fakes.targeting import TASK_PATTERN

COMMANDS: Final[Mapping[str, tuple[str, str]]] = {
    "note": ("true", "Do nothing"),
    "quiet": ("sleep 3", "Wait three seconds"),
    "ask": ("touch lifeline-asked", "Make an empty file"),
}
"""By form of work a harmless command and what it is for: no model here asks a shell for more."""


def first_group(pattern: str) -> Callable[[str], str]:
    """Finds in a text's first 20,000 characters what a group of `pattern` matches, or nothing."""
    compiled = re.compile(pattern)

    def find(text: str) -> str:
        match = compiled.search(text[:20_000])
        return next(filter(None, match.groups()), "") if match else ""

    return find


AGENT_ID = first_group(r"agent_id\W{1,4}([\w.:-]{1,200})")


class PlainTools:
    """A :class:`~fakes.script.ToolTable` of an agent that has every tool."""

    def delegate(self, task: Task) -> ToolCall:
        """The ``task`` tool."""
        mode = "background" if task.background else "sync"
        said = {"name": task.name, "description": f"Task {task.path}", "prompt": task.prompt}
        own = {"model": task.model} if task.model else {}
        return ToolCall("task", {**said, "mode": mode, **own})

    def wait(self, child: Child) -> ToolCall | None:
        """The ``wait`` tool."""
        return ToolCall("wait", {"agent_id": child.id or child.path})

    def poll(self, child: Child) -> ToolCall | None:
        """The ``read`` tool."""
        return ToolCall("read", {"agent_id": child.id or child.path})

    def message(self, child: Child, text: str) -> ToolCall | None:
        """The ``send`` tool."""
        return ToolCall("send", {"agent_id": child.id or child.path, "text": text})

    def cancel(self, child: Child) -> ToolCall | None:
        """The ``stop`` tool."""
        return ToolCall("stop", {"agent_id": child.id or child.path})

    def work(self, form: str) -> ToolCall | None:
        """The ``work`` tool."""
        return ToolCall("work", {"form": form})

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Ids by path: the outputs of ``task`` calls, joined by the calls' ids."""
        return ids_by_call(request, AGENT_ID)


class Waits:
    """The rest of a table where the call that delegates waits for its sub-agent, which is gone
    then: no other tool knows it. A subclass adds ``delegate`` and ``work``."""

    def wait(self, child: Child) -> ToolCall | None:
        """None: the call waits."""
        return None

    def poll(self, child: Child) -> ToolCall | None:
        """None: the parent waits meanwhile."""
        return None

    def message(self, child: Child, text: str) -> ToolCall | None:
        """None: whoever has answered is gone."""
        return None

    def cancel(self, child: Child) -> ToolCall | None:
        """None: there is no such tool."""
        return None

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Nothing: a sub-agent has no id that a model is told."""
        return {}


def ids_by_call(
    request: ModelRequest, find: Callable[[str], str], calls: Collection[str] = ()
) -> dict[str, str]:
    """By path of each delegated task the id that `find` finds in the output of its call.

    `calls`: the tools that delegate; none: every call with the marker of a task.
    """
    paths: dict[str, str] = {}
    found: dict[str, str] = {}
    for turn in request.turns:
        for call in turn.tool_calls:
            marker = TASK_PATTERN.search(dumps(call.arguments))
            if marker and (not calls or call.name in calls):
                paths[call.id] = marker.group(1)
        named = find(turn.text) if turn.role == "tool" and turn.call_id in paths else ""
        if named:
            found[paths[turn.call_id]] = named
    return found
