"""What keeps an agent in: how well this machine can seal a run, and how it does it.

A sealed run has its own network (only ``lo``), its own processes and a file view
in which the real home, other runs and ``var/`` do not exist. Bubblewrap gives
all three; where it does not work, our own minder gives what the system lets it.
"""

from __future__ import annotations

import functools
import os
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Literal

from runs.errors import HarnessError

_SYSTEM: Final = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/nix/store")


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
    own: tuple[str, ...] = ()
    """Namespaces that the minder enters by itself: users, network, processes."""

    @property
    def whole(self) -> bool:
        """Whether all three hold: what a third party's binary needs by default."""
        return self.network and self.files and self.processes

    @property
    def own_user(self) -> bool:
        """Whether the agent gets a user of its own (1000, whoever we are)."""
        return self.by == "bwrap" or "users" in self.own

    def as_dict(self) -> dict[str, object]:
        """For the run's record and `process.started`: the three, by what, and why not."""
        return {
            "network": self.network,
            "files": self.files,
            "processes": self.processes,
            "by": self.by,
            "why": self.why,
        }


@functools.cache
def best_seal() -> Seal:
    """The best seal that really works here; tried once per process, then remembered."""
    from runs.probe import trouble

    reasons: list[str] = []
    for seal in candidates():
        why = trouble(seal)
        if not why:
            return _explained(seal, reasons)
        reasons.append(f"{_name(seal)}: {why}")
    raise HarnessError("Not even an unsealed process can be started here.", "; ".join(reasons))


def candidates(linux: bool = sys.platform.startswith("linux")) -> Iterator[Seal]:
    """Every seal worth a try, the best first; the last one asks nothing of the system."""
    from runs import bubblewrap

    if linux:
        for path in bubblewrap.find():
            yield Seal(True, True, True, "bwrap", bwrap=path)
        for own in (("users", "network", "processes"), ("users", "network"), ("network",)):
            yield Seal(True, False, "processes" in own, "minder", own=own)
    yield Seal(False, False, False, "minder")


def _name(seal: Seal) -> str:
    if seal.by == "bwrap":
        return f"bubblewrap ({seal.bwrap})"
    return f"the minder with {', '.join(seal.own)}" if seal.own else "the minder"


def _explained(seal: Seal, reasons: list[str]) -> Seal:
    """The seal with what does not hold, and why, in words."""
    if seal.whole:
        return seal
    parts = {"network": seal.network, "files": seal.files, "processes": seal.processes}
    lacking = [name for name, held in parts.items() if not held]
    tried = "; ".join(reasons) or "there is no bubblewrap for this system"
    why = f"not sealed: {', '.join(lacking)} ({tried})"
    return Seal(seal.network, seal.files, seal.processes, seal.by, why, own=seal.own)


def folders_of(executable: Path) -> list[Path]:
    """What must be readable so that this interpreter runs: its installation, its venv.

    Nothing for one of the system's own. For a Node under a home this is its version's
    folder, for a Python of a venv the venv and the installation behind it.
    """
    found: list[Path] = []
    venv = executable.absolute().parent.parent
    if (venv / "pyvenv.cfg").is_file():
        found.append(venv)
    true = executable.resolve()
    prefix = true.parent.parent if true.parent.name == "bin" else true.parent
    home = Path.home().resolve()
    found.append(true if home.is_relative_to(prefix) else prefix)
    return [
        folder
        for folder in found
        if not any(folder.resolve().is_relative_to(system) for system in _SYSTEM)
    ]


def interpreter_of(script: Path) -> Path | None:
    """The interpreter that a script's first line names; None for any other executable, and
    where ``env`` is to look for it."""
    with script.open("rb") as file:
        first = file.readline(1024)
    words = first[2:].split() if first.startswith(b"#!") else []
    if not words or Path(os.fsdecode(words[0])).name == "env":
        return None
    return Path(os.fsdecode(words[0]))
