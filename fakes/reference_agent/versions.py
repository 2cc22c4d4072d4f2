"""The versions that the agent pretends to come in, and how each behaves.

One table, oldest first: what a version breaks. Sweeps, the matrix and bisection
are tried on it without any download. The newest is well-behaved, as most are;
one is a race (it breaks its rule about every other time), one cannot start.
"""

from __future__ import annotations

import random
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Version:
    """One version. `breaks`: names of misbehaviours; `chance`: how often it breaks them."""

    number: str
    date: str
    breaks: tuple[str, ...] = ()
    chance: float = 1.0
    starts: bool = True


VERSIONS: tuple[Version, ...] = (
    Version("0.1.0", "2025-01-14", ("no-retry", "exit-zero")),
    Version("0.1.1", "2025-01-28", ("no-retry", "exit-zero")),
    Version("0.2.0", "2025-02-11", ("flat-retry", "retry-permanent")),
    Version("0.2.1", "2025-02-25", ("flat-retry", "retry-permanent")),
    Version("0.2.2", "2025-03-04", ("flat-retry",)),
    Version("0.3.0", "2025-03-18", starts=False),
    Version("0.3.1", "2025-03-19", ("flat-retry",)),
    Version("0.4.0", "2025-04-08"),
    Version("0.4.1", "2025-04-22"),
    Version("0.5.0", "2025-05-06"),
    Version("0.6.0", "2025-05-20", ("false-completion",)),
    Version("0.6.1", "2025-06-03", ("false-completion",)),
    Version("0.6.2", "2025-06-17", ("false-completion", "result-discarded")),
    Version("0.7.0", "2025-07-01", ("never-told",)),
    Version("0.7.1", "2025-07-15", ("never-told",)),
    Version("0.8.0", "2025-07-29", ("never-told",), chance=0.5),
    Version("0.8.1", "2025-08-12", ("premature-idle",)),
    Version("0.9.0", "2025-08-26", ("told-twice",)),
    Version("1.0.0", "2025-09-09"),
    Version("1.0.1", "2025-09-23"),
    Version("1.1.0", "2025-10-07"),
)
NEWEST = VERSIONS[-1].number
KNOWN = {version.number: version for version in VERSIONS}


def behaviour(number: str, seed: int | None) -> frozenset[str]:
    """What this start of that version breaks; without a seed a race is one. KeyError if unknown."""
    version = KNOWN[number]
    drawn = random.Random(seed).random() < version.chance
    return frozenset(version.breaks) if drawn else frozenset()
