"""How many connections were refused, as the kernel counts them.

Nobody sees a refused connection but the kernel of its network. Inside a sealed
network, where nobody but the agent is, its counter of failed attempts tells
when a shut port was tried; on a shared network it says nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

Refusals = Callable[[], int]
"""Connections refused so far."""


def kernel_refusals(pid: int, proc: Path = Path("/proc")) -> Refusals:
    """The counter of the network that this process is in (Linux; 0 where it cannot be read)."""
    table = proc / str(pid) / "net" / "snmp"

    def count() -> int:
        try:
            names, values = (
                line.split() for line in table.read_text().splitlines() if line.startswith("Tcp:")
            )
            return int(values[names.index("AttemptFails")])
        except (OSError, ValueError):
            return 0

    return count
