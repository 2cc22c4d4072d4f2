"""What Qwen Code's views share: its tool that delegates, and its notifications."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runs.transcripts._values import mapping, status, text

SPAWN_TOOLS = frozenset({"agent", "task"})
STOP_TOOL, MESSAGE_TOOL = "task_stop", "send_message"
_BEGIN = "<task-notification>"
_TAG = re.compile(r"<(task-id|tool-use-id|status)>([^<]{0,200})</\1>")
_RESULT = re.compile(r"<result>(.*?)(?:</result>|\Z)", re.DOTALL)


def called(name: Any, given: Any) -> tuple[str, Mapping[str, Any]]:
    """A tool and its arguments; a hidden one is called through ``tool_call``."""
    tool, found = text(name, 80), mapping(given)
    if tool != "tool_call":
        return tool, found
    return text(found.get("name"), 80) or tool, mapping(found.get("arguments"))


def notifications(words: str) -> list[dict[str, Any]]:
    """The data of each notice in a text of ``<task-notification>`` (several may come at once);
    none where the text merely quotes one."""
    if not words.startswith(_BEGIN):
        return []
    found = map(_notice, words.split(_BEGIN)[1:1000])
    return [notice for notice in found if notice is not None]


def _notice(words: str) -> dict[str, Any] | None:
    tags: Mapping[str, str] = dict(_TAG.findall(words[:4000]))
    if "task-id" not in tags or "status" not in tags:
        return None
    found = _RESULT.search(words)
    size = len(found[1]) if found else 0
    ours = status(tags["status"])
    return {
        "child": tags["task-id"],
        "call": tags.get("tool-use-id", ""),
        "status": ours,
        "raw": tags["status"],
        "form": "notification",
        "has_result": size > 0,
        "text_length": size,
        "error_passed": size > 0 if ours == "failed" else None,
    }
