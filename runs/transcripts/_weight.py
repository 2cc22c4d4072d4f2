"""How much memory parsing takes: what is too heavy is not parsed."""

from __future__ import annotations

HEAVIEST = 128 << 20
"""Weight of one JSON text that is parsed: about a third of the memory that this takes."""
PART = 40
"""Bytes of text that cost as much memory as one more part (a comma, a brace or a bracket)."""


def too_heavy(data: bytes) -> bool:
    """Whether parsing this JSON text would take too much memory: by its length and its parts."""
    if len(data) * (1 + PART) <= HEAVIEST:
        return False
    parts = data.count(b",") + data.count(b"{") + data.count(b"[")
    return len(data) + PART * parts > HEAVIEST
