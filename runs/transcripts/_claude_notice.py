"""Claude Code's ``<task-notification>`` texts."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from fakes.spoken import digest
from runs.transcripts._values import first_text, seconds, status, text

_TAG = re.compile(
    r"<(task-id|tool-use-id|status|summary|result|run-id|duration_ms)>(.*?)</\1>", re.S
)


@dataclass(slots=True)
class Notice:
    """A ``<task-notification>`` text, read."""

    task: str
    call: str
    status: str
    raw: str
    text_length: int | None
    run: str | None
    duration: float | None
    digest: str = ""


def notices(content: Any) -> list[Notice]:
    """The notifications that a text consists of; a text that merely quotes one gives none."""
    words = first_text(content)
    if not words.lstrip().startswith("<task-notification>"):
        return []
    found = []
    for part in words.split("<task-notification>")[1:1000]:
        tags: dict[str, str] = {}
        for tag, value in _TAG.findall(part[:1_000_000]):
            tags.setdefault(tag, value.strip())
        if "task-id" not in tags:
            continue
        raw = text(tags.get("status"), 40)
        said = [tags[tag] for tag in ("result", "summary") if tag in tags]
        spent = tags.get("duration_ms", "")
        found.append(
            Notice(
                task=text(tags["task-id"]),
                call=text(tags.get("tool-use-id")),
                status=status(raw),
                raw=raw,
                text_length=len(said[0]) if said else None,
                run=text(tags.get("run-id")) or None,
                duration=seconds(int(spent)) if spent.isascii() and spent.isdigit() else None,
                digest=digest(said[0]) if said else "",
            )
        )
    return found
