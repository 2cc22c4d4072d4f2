"""What the matrix costs with 100 versions × 60 scenarios × 20 repeats."""

from __future__ import annotations

import random
import time
from collections.abc import Callable

from runs import grid
from runs.bench import Bench, Figure, Say, median
from runs.core import matrix
from runs.models import Cell
from runs.versions import key

VERSIONS, SCENARIOS, REPEATS = 100, 60, 20
ASKS = 5
BUDGET = 300.0
"""Milliseconds of processor time in which the cells are read and compared."""
AGENT = "copilot"


def generate(
    versions: int = VERSIONS, scenarios: int = SCENARIOS, repeats: int = REPEATS, seed: int = 7
) -> int:
    """Store the cells of so many runs, made as `runs.grid` makes them; gives how many."""
    chance = random.Random(seed)
    rows = []
    for number in range(versions):
        for place in range(scenarios):
            runs = [_facts(chance, number, place, n) for n in range(repeats)]
            rows.append(
                Cell(
                    agent=AGENT,
                    version=f"1.0.{number}",
                    scenario=f"scenario-{place:02}",
                    data=matrix.cell(runs),
                )
            )
    Cell.objects.bulk_create(rows, batch_size=500)
    return len(rows)


def _facts(chance: random.Random, number: int, place: int, n: int) -> matrix.RunFacts:
    """One run: behaviours change every dozen versions, every fifth scenario is a race."""
    era = (number + place) // 12
    bad = era % 3 == 1 and (place % 5 or chance.random() < 0.6)
    return matrix.RunFacts(
        permalink=f"r{number:03}x{place:02}x{n:02}",
        imported=False,
        valid=chance.random() > 0.02,
        outcome="model-request-failed" if place else "completed",
        diagnosis="cut_stream_false_completion" if bad else "failed_and_reported",
        broken=["L2", "L3"] if bad else [],
        attempts=6 if era % 2 else 5,
        gaps=[1.0 + chance.random() / 20, 1.1 + chance.random() / 20],
        slept=5.0,
        told="idle" if bad else "failed",
        stdout="completed" if bad else "failed",
        session="completed" if bad else "failed",
        exit_code=1 if bad else 0,
    )


def measure(say: Say) -> list[Figure]:
    """Reading all cells and finding what changed between neighbours."""
    say(f"storing {VERSIONS * SCENARIOS:,} cells of {VERSIONS * SCENARIOS * REPEATS:,} runs")
    count = generate()
    return [
        Figure(f"read {count:,} cells", cost(grid.stored), "ms of processor time"),
        Figure(
            "read them and find what changed",
            cost(lambda: matrix.changes(grid.stored(), key)),
            "ms of processor time",
            BUDGET,
        ),
    ]


def cost(work: Callable[[], object]) -> float:
    """Median processor time in milliseconds."""
    work()
    taken = []
    for _ in range(ASKS):
        began = time.process_time()
        work()
        taken.append((time.process_time() - began) * 1000)
    return round(median(taken), 1)


BENCH = Bench("Does the matrix answer in time for 120,000 runs?", measure)
