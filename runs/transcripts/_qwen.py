"""What Qwen Code's views share: its tool that delegates, and its notifications."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runs.transcripts._values import status

SPAWN_TOOLS = frozenset({"agent", "task"})
_TAG = re.compile(r"<(task-id|tool-use-id|status)>([^<]{0,200})</\1>")
_RESULT = re.compile(r"<result>(.*?)(?:</result>|\Z)", re.DOTALL)


def notification(text: str) -> dict[str, Any] | None:
    """The data of a notice in a ``<task-notification>``, None where the text is none."""
    if not text.startswith("<task-notification>"):
        return None
    tags: Mapping[str, str] = dict(_TAG.findall(text[:4000]))
    if "task-id" not in tags or "status" not in tags:
        return None
    found = _RESULT.search(text)
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
