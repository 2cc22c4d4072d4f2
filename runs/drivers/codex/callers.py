"""Who asks: Codex names the thread of every request, and the parent's thread of a sub-agent's.

Prompts do not tell: from 0.147 on a sub-agent of the second generation inherits its
parent's conversation, markers included. Only the message by which it got its
task says where its own conversation begins.
"""

from __future__ import annotations

import re

from fakes.dialect import ModelRequest
from fakes.targeting import TASK_PATTERN, UTILITY, Identity

SPAWNED = "collab_spawn"
"""``x-openai-subagent`` of a sub-agent; other values are the agent's own helpers (compaction)."""
_THREAD = ("thread-id", "x-client-request-id", "session_id", "session-id")
"""Headers that may hold the thread, the surest first."""
_ID = re.compile(r"[0-9A-Za-z-]{8,64}")
_TASK = re.compile(r"Message Type: NEW_TASK\nTask name: (\S{1,200})\n")
_ENVELOPE = re.compile(r'\s*\{"author":"[^"]{1,200}","recipient":"([^"]{1,200})"')


class Threads:
    """The rule of one run: remembers how deep each thread is."""

    def __init__(self) -> None:
        self._depths: dict[str, int] = {}

    def __call__(self, request: ModelRequest) -> Identity | None:
        """The identity, None where the request names no thread."""
        thread = next((value for name in _THREAD if (value := _id(request, name))), "")
        if not thread:
            return None
        kind = request.headers.get("x-openai-subagent", "")
        parent = _id(request, "x-codex-parent-thread-id")
        if kind and kind != SPAWNED:
            return UTILITY
        if not kind and not parent:
            self._depths.setdefault(thread, 0)
            return Identity(0, thread)
        depth = self._depths.get(parent, 0) + 1
        self._depths[thread] = depth
        since, task = own_part(request)
        return Identity(depth, thread, parent, since=since, task=task)


def own_part(request: ModelRequest) -> tuple[int, str]:
    """Where a sub-agent's own conversation begins (a number of turns), and its task's path.

    Its first task says both: everything before was said to somebody else.
    """
    given = [
        (place, name, turn.text)
        for place, turn in enumerate(request.turns)
        if (name := _recipient(turn.text))
    ]
    if not given:
        return 0, _path("\n".join(t.text for t in request.turns if t.role == "user"))
    mine = given[-1][1]
    place, _, text = next(row for row in given if row[1] == mine)
    return place, _path(text)


def _recipient(text: str) -> str:
    """Whom a message between agents is for, where it gives a task; else nothing."""
    found = _TASK.search(text[:600]) or _ENVELOPE.match(text[:600])
    if found is None or "<subagent_notification>" in text:
        return ""
    return found[1]


def _path(text: str) -> str:
    found = TASK_PATTERN.search(text)
    return found[1] if found else ""


def _id(request: ModelRequest, name: str) -> str:
    value = request.headers.get(name, "")
    return value if _ID.fullmatch(value) else ""
