"""Put versions on the shelf without installing them."""

from __future__ import annotations

import os
import time

from runs import shelf
from runs.shelf import Slot

MIB = 1 << 20


def put(version: str, *, size: int = 10 * MIB, used: float = 0, agent: str = "toy") -> Slot:
    """A version that is installed as far as the shelf can tell; `used` seconds ago (0: never)."""
    slot = Slot(agent, version)
    slot.folder.mkdir(parents=True)
    (slot.folder / "toy").write_text(version)
    slot.note(executable="toy", size=size, at=time.time() - 10_000, version=version)
    if used:
        slot.touch()
        os.utime(slot.beside("used"), (time.time() - used,) * 2)
    return slot


def names(agent: str = "toy") -> list[str]:
    return [slot.version for slot in shelf.slots(agent)]
