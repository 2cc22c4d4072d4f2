"""What keeps an agent in: how well this machine can seal a run, and how it does it.

A sealed run has its own network (only ``lo``), its own processes and a file view
in which the real home, other runs and ``var/`` do not exist. Bubblewrap gives
all three; where it does not work, our own minder gives what the system lets it.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal


@dataclass(frozen=True, slots=True)
class Seal:
    """What holds for runs on this machine. `why` says in words what does not, and why."""

    network: bool
    files: bool
    processes: bool
    by: Literal["bwrap", "minder"]
    why: str = ""
    bwrap: Path | None = None
    """The bubblewrap that was tried and works."""

    @property
    def whole(self) -> bool:
        """Whether all three hold: what a third party's binary needs by default."""
        return self.network and self.files and self.processes

    def as_dict(self) -> dict[str, object]:
        """For the run's record and `process.started`: the three, by what, and why not."""
        return {
            "network": self.network,
            "files": self.files,
            "processes": self.processes,
            "by": self.by,
            "why": self.why,
        }


def best_seal() -> Seal:
    """The best seal that really works here; tried once per process, then remembered."""
    raise NotImplementedError
