"""What stops a run that would hurt the machine or never end.

Each guard has the name of its outcome. The first one that fires is kept; the
executor then ends the agent. Bytes and requests are counted as they come, the
deadline, the memory and the disk are looked at by `watch`.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import psutil

from runs.errors import CannotRunHere

MIB: Final = 1024 * 1024
TIMEOUT: Final = "timeout"
MEMORY: Final = "guard-memory-floor"
OUTPUT: Final = "guard-output-cap"
REQUESTS: Final = "guard-request-cap"
PROCESSES: Final = "guard-process-cap"
"""Fired by the minder: the agent became ever more processes."""
NAMES: Final = (MEMORY, OUTPUT, REQUESTS, PROCESSES, TIMEOUT)


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Where the guards stand. None: this one is off."""

    deadline: float | None = 180.0
    """Seconds since the guards were made."""
    memory_floor_mib: int | None = 1024
    """Free and commit memory that this machine must keep."""
    output_mib: float | None = 512
    """Bytes over all sources of evidence."""
    requests: int | None = 500
    """Model requests over all callers."""
    disk_mib: float | None = 4096
    """Bytes that the agent may have on disk at once in its own folders."""


@dataclass(frozen=True, slots=True)
class Fired:
    """The guard that stopped the run, where it stood and what was measured."""

    guard: str
    limit: float
    value: float
    what: str = ""

    def as_dict(self) -> dict[str, object]:
        """The data of `guard.fired`."""
        about = {"what": self.what} if self.what else {}
        return {"guard": self.guard, "limit": self.limit, "value": self.value, **about}


@dataclass(frozen=True, slots=True)
class Memory:
    """What this machine has left, in MiB. `commit` is None where no commit limit is enforced."""

    free: float
    commit: float | None


def memory(meminfo: Path = Path("/proc/meminfo")) -> Memory:
    """Free memory now, and free commit memory where the kernel enforces its limit.

    With overcommit left to the heuristic (the default) the commit limit is not
    enforced, and is routinely passed on healthy machines; there it says nothing.
    """
    try:
        lines = meminfo.read_text().splitlines()
    except OSError:
        return Memory(psutil.virtual_memory().available / MIB, None)
    kib = {
        parts[0].rstrip(":"): int(parts[1])
        for parts in (line.split() for line in lines)
        if len(parts) >= 2 and parts[1].isdigit()
    }
    free = kib.get("MemAvailable", kib.get("MemFree", 0)) / 1024
    commit = (kib.get("CommitLimit", 0) - kib.get("Committed_AS", 0)) / 1024
    return Memory(free, commit if _commit_is_enforced() else None)


def _commit_is_enforced(setting: Path = Path("/proc/sys/vm/overcommit_memory")) -> bool:
    try:
        return setting.read_text().strip() == "2"
    except OSError:
        return False


def check_memory(
    floor_mib: float, need_mib: float = 0, *, read: Callable[[], Memory] = memory
) -> None:
    """Before the start: CannotRunHere unless `need_mib` leave the floor untouched."""
    now = read()
    least = now.free if now.commit is None else min(now.free, now.commit)
    if least < floor_mib + need_mib:
        kind = "free" if least == now.free else "commit"
        raise CannotRunHere(
            f"Only {least:.0f} MiB of {kind} memory are left; this run needs {need_mib:.0f} MiB "
            f"above the floor of {floor_mib:.0f} MiB.",
            "End something else, or lower the floor (LIFELINE_MEMORY_FLOOR_MIB or "
            "--set guards.memory_floor_mib=…).",
        )


class Guards:
    """The guards of one run. Make it when the agent starts: the deadline counts from then."""

    def __init__(
        self,
        limits: Limits,
        *,
        folder: Path | None = None,
        read_memory: Callable[[], Memory] = memory,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`folder`: what the agent may write to, for the disk cap (a workspace's root)."""
        self.limits = limits
        self.fired: Fired | None = None
        self.bytes = 0
        self.requests = 0
        self._folder = folder
        self._memory = read_memory
        self._clock = clock
        self._start = clock()
        self._event = asyncio.Event()

    def output(self, size: int) -> None:
        """`size` more bytes of evidence came."""
        self.bytes += size
        cap = self.limits.output_mib
        if cap is not None and self.bytes > cap * MIB:
            self._fire(Fired(OUTPUT, cap * MIB, self.bytes, "output"))

    def request(self) -> None:
        """One more model request came."""
        self.requests += 1
        cap = self.limits.requests
        if cap is not None and self.requests > cap:
            self._fire(Fired(REQUESTS, cap, self.requests))

    def look(self, disk_bytes: int | None = None) -> Fired | None:
        """Look at deadline, memory and the measured disk use; gives what has fired so far."""
        limits, passed = self.limits, self._clock() - self._start
        if limits.deadline is not None and passed >= limits.deadline:
            self._fire(Fired(TIMEOUT, limits.deadline, round(passed, 3)))
        if limits.memory_floor_mib is not None:
            now = self._memory()
            least = now.free if now.commit is None else min(now.free, now.commit)
            if least < limits.memory_floor_mib:
                self._fire(Fired(MEMORY, limits.memory_floor_mib, round(least, 1)))
        cap = limits.disk_mib
        if cap is not None and disk_bytes is not None and disk_bytes > cap * MIB:
            self._fire(Fired(OUTPUT, cap * MIB, disk_bytes, "disk"))
        return self.fired

    async def watch(self, every: float = 0.25, disk_every: float = 2.0) -> Fired:
        """Look again and again until a guard has fired; run it as a task, cancel it at the end."""
        next_disk = self._clock() + disk_every
        while self.fired is None:
            used = None
            if self._folder is not None and self._clock() >= next_disk:
                cap = int((self.limits.disk_mib or 0) * MIB) or None
                used = await asyncio.to_thread(disk_use, self._folder, cap)
                next_disk = self._clock() + disk_every
            if self.look(used) is None:
                try:
                    await asyncio.wait_for(self._event.wait(), every)
                except TimeoutError:
                    pass
        return self.fired

    def _fire(self, fired: Fired) -> None:
        if self.fired is None:
            self.fired = fired
            self._event.set()


def disk_use(folder: Path, stop_above: int | None = None) -> int:
    """Bytes on disk below `folder`, links not followed; stops counting above `stop_above`.

    Every entry counts at least one block, so that millions of empty files count as well.
    """
    total, folders = 0, [str(folder)]
    while folders:
        try:
            entries = os.scandir(folders.pop())
        except OSError:
            continue
        with entries:
            for entry in entries:
                try:
                    stat = entry.stat(follow_symlinks=False)
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
                except OSError:
                    continue
                total += max(stat.st_blocks * 512, 4096)
                if stop_above is not None and total > stop_above:
                    return total
    return total
