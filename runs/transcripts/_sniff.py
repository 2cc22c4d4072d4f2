"""What the readers' sniffing shares: the first whole records of a file's beginning."""

from __future__ import annotations

import json
from functools import lru_cache
from typing import Any

from runs.transcripts._repair import repair

MOST = 40


@lru_cache(maxsize=8)
def records(head: bytes) -> tuple[dict[str, Any], ...]:
    """The first objects of a file of JSON lines; lines that are none are passed over."""
    found: list[dict[str, Any]] = []
    lines = head.split(b"\n")
    for number, line in enumerate(lines):
        stripped = line.strip(b"\xef\xbb\xbf\r\n\t \0").removeprefix(b"data:").lstrip()
        if not stripped.startswith(b"{"):
            continue
        try:
            value = json.loads(stripped.decode())
            found.extend([value] if isinstance(value, dict) else [])
        except (ValueError, RecursionError):
            if number < len(lines) - 1 or len(lines) == 1:
                found.extend(repair(stripped, frozenset()).records)
        if len(found) >= MOST:
            break
    return tuple(found)


@lru_cache(maxsize=8)
def document(data: bytes) -> Any:
    """The whole file as one JSON document, None when it is not one."""
    try:
        return json.loads(data.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError):
        return None


def share(head: bytes, *wanted: str) -> float:
    """Which part of the first records has all of these keys."""
    found = records(head)
    if not found:
        return 0.0
    return sum(all(key in record for key in wanted) for record in found) / len(found)
