"""`up`: how long until it answers, and what it takes while nobody asks anything."""

from __future__ import annotations

import time

import psutil
from django.conf import settings

from dashboard import benching
from runs.bench import Bench, Figure, Say

IDLE = 15.0
SETTLE = 4.0


def measure(say: Say) -> list[Figure]:
    """Seconds to ready of a first and of a later start; idle memory and processor time."""
    env = benching.environment(settings.VAR)
    figures = []
    for which in ("first", "second"):
        began = time.monotonic()
        with benching.instance(env) as up:
            ready = round(time.monotonic() - began, 2)
            spent = _seconds(up.pid)
            say(f"the {which} start took {ready} s")
            figures.append(Figure(f"ready after, {which} start", ready, "s"))
            figures.append(
                Figure(f"processor time until then, {which} start", round(spent, 2), "s")
            )
            if which == "second":
                figures += _idle(up.pid)
    return figures


def _idle(pid: int) -> list[Figure]:
    time.sleep(SETTLE)
    before = _seconds(pid)
    time.sleep(IDLE)
    busy = (_seconds(pid) - before) / IDLE * 100
    tree = _tree(pid)
    memory = sum(process.memory_full_info().pss for process in tree) / 2**20
    return [
        Figure("idle memory (shared pages counted once)", round(memory, 1), "MiB"),
        Figure("processes", len(tree)),
        Figure("idle load", round(busy, 2), "% of one core"),
    ]


def _tree(pid: int) -> list[psutil.Process]:
    up = psutil.Process(pid)
    return [up, *up.children(recursive=True)]


def _seconds(pid: int) -> float:
    total = 0.0
    for process in _tree(pid):
        times = process.cpu_times()
        total += times.user + times.system
    return total


BENCH = Bench("How long until `up` answers, and what does it take while idle?", measure)
