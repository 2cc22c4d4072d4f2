"""Measure a process tree from outside: memory, processor time and number of processes."""

from __future__ import annotations

import time
from typing import Any

import psutil


class Sampler:
    """Measures everything below one process (the minder), whatever session it moved to."""

    def __init__(self, pid: int, *, itself: bool = False) -> None:
        """`pid` as this machine sees it; `itself`: count that process as well."""
        self.seen: dict[int, psutil.Process] = {}
        """Every process of the tree that was ever seen, by pid, to find what outlives it."""
        self._pid = pid
        self._itself = itself
        self._before: dict[tuple[int, float], float] = {}
        self._at = time.monotonic()

    def processes(self) -> list[psutil.Process]:
        """The tree as it is now; empty when its root is gone."""
        try:
            root = psutil.Process(self._pid)
            found = root.children(recursive=True)
        except psutil.Error:
            return []
        if self._itself:
            found.append(root)
        for process in found:
            self.seen.setdefault(process.pid, process)
        return found

    def measure(self) -> dict[str, Any]:
        """``{"rss": bytes, "cpu": percent of one core since the last time, "processes": n}``."""
        now = time.monotonic()
        rss, times, count = 0, {}, 0
        for process in self.processes():
            try:
                with process.oneshot():
                    used = process.cpu_times()
                    rss += process.memory_info().rss
                    if process.status() != psutil.STATUS_ZOMBIE:
                        count += 1
                    times[(process.pid, process.create_time())] = used.user + used.system
            except psutil.Error:
                continue
        spent = sum(used - self._before.get(key, 0.0) for key, used in times.items())
        passed = max(now - self._at, 1e-6)
        self._before, self._at = times, now
        return {"rss": rss, "cpu": round(100 * max(spent, 0) / passed, 1), "processes": count}

    def kill_survivors(self) -> int:
        """Kill what was once in the tree and still runs; gives how many there were."""
        survivors = [process for process in self.seen.values() if process.is_running()]
        for process in survivors:
            try:
                process.kill()
            except psutil.Error:
                pass
        return len(survivors)
