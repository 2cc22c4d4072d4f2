"""A sweep of three hundred runs while worker, Redis, web server and `up` itself are killed."""

from __future__ import annotations

import signal
import time
from collections import Counter

import psutil
from django.conf import settings

from dashboard import benching
from runs import sweeps
from runs.bench import Bench, Figure, Say
from runs.models import Event, Sweep

RUNS = 300
VERSIONS = ("1.0.0", "1.0.1", "1.1.0")
PATIENCE = 3600.0
KILLS = {"worker": "-Q runs", "Redis": "-server ", "web server": "daphne", "up": ""}
"""What is killed after each fifth of the runs, found by a part of its command line."""
DOWN = 8.0
"""Seconds between the death of `up` and its next start."""


def measure(say: Say) -> list[Figure]:
    """Runs that ended, that are missing, and that were started twice."""
    env = benching.environment(settings.VAR)
    sweep = sweeps.create(
        [("reference", version) for version in VERSIONS], ["success"], repeat=RUNS // len(VERSIONS)
    )
    kills, killed, began = list(KILLS), 0, time.monotonic()
    while sweep.state == Sweep.State.GOING and time.monotonic() - began < PATIENCE:
        with benching.instance(env) as up:
            while sweep.state == Sweep.State.GOING and time.monotonic() - began < PATIENCE:
                time.sleep(1)
                sweep.refresh_from_db()
                ended = sweep.runs.filter(status="ended").count()
                if kills and ended >= RUNS * (len(KILLS) + 1 - len(kills)) // (len(KILLS) + 1):
                    what = kills.pop(0)
                    say(f"{ended} ended; killing {what}")
                    killed += _kill(up.pid, KILLS[what])
                    if what == "up":
                        time.sleep(DOWN)
                        break
    return [Figure("parts killed", killed, budget=len(KILLS), floor=True), *_figures(sweep, began)]


def _kill(up: int, what: str) -> int:
    """SIGKILL for that part, or for `up` without one; gives how many it hit."""
    parent = psutil.Process(up)
    found = [one for one in parent.children() if what in " ".join(one.cmdline())]
    for process in found if what else [parent]:
        process.send_signal(signal.SIGKILL)
    return len(found) if what else 1


def _figures(sweep: Sweep, began: float) -> list[Figure]:
    counts = Counter(sweep.runs.values_list("status", flat=True))
    starts = Event.objects.filter(run__sweep=sweep, kind="process.started")
    twice = sum(n > 1 for n in Counter(starts.values_list("run_id", flat=True)).values())
    return [
        Figure("runs ended", counts["ended"], budget=RUNS, floor=True),
        Figure("runs too many", counts["ended"] - RUNS, budget=0),
        Figure("runs started twice", twice, budget=0),
        Figure("runs lost to a kill and replaced", counts["lost"]),
        Figure("took", round(time.monotonic() - began, 1), "s"),
    ]


BENCH = Bench(
    "Does a sweep of 300 runs survive the death of everything that serves it?",
    measure,
    by_name=True,
)
