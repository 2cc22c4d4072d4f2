"""Names that nobody guesses, for addresses."""

from __future__ import annotations

import secrets


def new_permalink() -> str:
    """An unguessable name for a run's address (96 bits)."""
    return secrets.token_urlsafe(12).replace("-", "a").replace("_", "b")


def new_key() -> str:
    """An unguessable name for a share's address (192 bits)."""
    return secrets.token_urlsafe(24).replace("-", "a").replace("_", "b")
