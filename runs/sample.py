"""Measure a process tree from outside: memory, processor time and number of processes.

Twice a second for every run, on machines with thousands of processes: one small read a
process of the tree, and one for each process that was not there before.
"""

from __future__ import annotations

import contextlib
import os
import sys
import time
from typing import Any, Final, NamedTuple

import psutil

_FRESH: Final = 20
"""Looks after which everything is read anew: a pid of somebody else may have become ours."""


class Stat(NamedTuple):
    """One process."""

    parent: int
    dead: bool
    started: float
    cpu: float
    """Seconds, user and system."""
    rss: int
    """Bytes."""


class Sampler:
    """Measures everything below one process (the minder), whatever session it moved to."""

    def __init__(self, pid: int) -> None:
        """`pid` as this machine sees it; that process itself is not counted."""
        self._pid = pid
        self._seen: dict[int, psutil.Process] = {}
        self._strangers: set[int] = set()
        self._looks = 0
        self._before: dict[tuple[int, float], float] = {}
        self._at = time.monotonic()

    def tree(self) -> dict[int, Stat]:
        """The tree as it is now, by pid; empty when its root is gone."""
        self._looks += 1
        if self._looks % _FRESH == 0:
            self._strangers.clear()
        now = read_new(self._strangers)
        children: dict[int, list[int]] = {}
        for pid, stat in now.items():
            children.setdefault(stat.parent, []).append(pid)
        found: dict[int, Stat] = {}
        todo = [self._pid]
        while todo:
            for pid in children.get(todo.pop(), ()):
                found[pid] = now[pid]
                todo.append(pid)
        self._strangers.update(pid for pid in now if pid not in found and pid != self._pid)
        self._remember(found)
        return found

    def measure(self) -> dict[str, Any]:
        """``{"rss": bytes, "cpu": percent of one core since the last time, "processes": n}``."""
        now, tree = time.monotonic(), self.tree()
        times = {(pid, stat.started): stat.cpu for pid, stat in tree.items()}
        spent = sum(used - self._before.get(key, 0.0) for key, used in times.items())
        passed = max(now - self._at, 1e-6)
        self._before, self._at = times, now
        return {
            "rss": sum(stat.rss for stat in tree.values()),
            "cpu": round(100 * max(spent, 0) / passed, 1),
            "processes": sum(not stat.dead for stat in tree.values()),
        }

    def kill_survivors(self, patience: float = 5.0) -> int:
        """Kill what was once seen in the tree and still runs, and wait until it is gone.

        Gives how many there were. Waits at most `patience` seconds (in a thread, please).
        """
        survivors = [process for process in self._seen.values() if _runs(process)]
        for process in survivors:
            try:
                process.kill()
            except psutil.Error:
                pass
        deadline = time.monotonic() + patience
        while any(map(_runs, survivors)) and time.monotonic() < deadline:
            time.sleep(0.01)
        return len(survivors)

    def _remember(self, found: dict[int, Stat]) -> None:
        for pid in found:
            known = self._seen.get(pid)
            if known is None or not known.is_running():
                try:
                    self._seen[pid] = psutil.Process(pid)
                except psutil.Error:
                    continue


def kill_strays(home: str) -> int:
    """Kill every process whose HOME is this run's: what left the tree before it was ever seen.

    Gives how many there were. For runs without processes of their own (in a thread, please).
    """
    strays = [process for process in psutil.process_iter() if _home(process) == home]
    for process in strays:
        with contextlib.suppress(psutil.Error):
            process.kill()
    psutil.wait_procs(strays, timeout=5.0)
    return len(strays)


def _home(process: psutil.Process) -> str:
    try:
        return str(process.environ().get("HOME", ""))
    except (psutil.Error, OSError):
        return ""


def _runs(process: psutil.Process) -> bool:
    try:
        return bool(process.is_running() and process.status() != psutil.STATUS_ZOMBIE)
    except psutil.Error:
        return False


def read_new(known: set[int]) -> dict[int, Stat]:
    """Every process of this machine but the known ones; known ones that are gone are forgotten."""
    if not sys.platform.startswith("linux"):
        return _by_psutil()
    pids = {int(name) for name in os.listdir("/proc") if name.isdigit()}  # noqa: PTH208 (speed)
    known &= pids
    found = {}
    for pid in pids - known:
        stat = read(pid)
        if stat is not None:
            found[pid] = stat
    return found


_TICK: Final = 1 / os.sysconf("SC_CLK_TCK")
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


def read(pid: int) -> Stat | None:
    """One process from ``/proc``; None when it is gone."""
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
        try:
            text = os.read(descriptor, 4096)
        finally:
            os.close(descriptor)
    except OSError:
        return None
    words = text[text.rindex(b")") + 2 :].split()
    return Stat(
        parent=int(words[1]),
        dead=words[0] in (b"Z", b"X"),
        started=int(words[19]) * _TICK,
        cpu=(int(words[11]) + int(words[12])) * _TICK,
        rss=int(words[21]) * _PAGE,
    )


def _by_psutil() -> dict[int, Stat]:
    """The slower way, for other systems than Linux."""
    found = {}
    for process in psutil.process_iter():
        try:
            with process.oneshot():
                used = process.cpu_times()
                found[process.pid] = Stat(
                    process.ppid(),
                    process.status() == psutil.STATUS_ZOMBIE,
                    process.create_time(),
                    used.user + used.system,
                    process.memory_info().rss,
                )
        except psutil.Error:
            continue
    return found
