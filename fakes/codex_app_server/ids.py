"""Identifiers as Codex makes them: UUIDs whose order is that of time, and prefixed ones."""

from __future__ import annotations

import os
import threading
import time
import uuid

_last = 0
_lock = threading.Lock()


def fresh() -> str:
    """A new UUID of version 7, later than any that this process gave before."""
    global _last
    with _lock:
        _last = max(_last + 1, time.time_ns() // 1_000_000)
        moment = _last
    noise = int.from_bytes(os.urandom(10), "big") & ((1 << 74) - 1)
    high, low = noise >> 62, noise & ((1 << 62) - 1)
    return str(uuid.UUID(int=(moment << 80) | (7 << 76) | (high << 64) | (2 << 62) | low))


def prefixed(prefix: str) -> str:
    """``msg_…`` or ``call_…`` with twelve hexadecimal digits."""
    return f"{prefix}_{os.urandom(6).hex()}"


def malformed(identifier: str) -> str:
    """Why the real server would not read it as a UUID, empty if it would."""
    for place, character in enumerate(identifier):
        if character not in "0123456789abcdefABCDEF-":
            return (
                "invalid character: expected an optional prefix of `urn:uuid:` followed by"
                f" [0-9a-fA-F-], found `{character}` at {place + 1}"
            )
    groups = identifier.split("-")
    if len(groups) == 1:
        if len(identifier) == 32:
            return ""
        return f"invalid length: expected length 32 for simple format, found {len(identifier)}"
    if len(groups) != 5:
        return f"invalid group count: expected 5, found {len(groups)}"
    for number, (group, length) in enumerate(zip(groups, (8, 4, 4, 4, 12), strict=True)):
        if len(group) != length:
            found = len(group)
            return f"invalid group length in group {number}: expected {length}, found {found}"
    return ""
