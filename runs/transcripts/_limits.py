"""What an import may be at most, and what is said of one that is more."""

from __future__ import annotations

from dataclasses import dataclass

from runs.errors import HarnessError

MIB = 1 << 20


class Unreadable(HarnessError):
    """What was attached cannot be read; says which file, and what to do."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Against hostile files. Sizes in bytes."""

    file: int = 4096 * MIB
    total: int = 8192 * MIB
    files: int = 5000
    unpacked: int = 2048 * MIB
    ratio: int = 200
    """How many times larger an archive may become, beyond the first 16 MiB."""
    depth: int = 24
    """Folders inside of folders."""
    line: int = 32 * MIB
