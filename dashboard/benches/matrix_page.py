"""What the matrix page and its API cost with 100 versions × 60 scenarios × 20 repeats."""

from __future__ import annotations

from functools import partial

from django.conf import settings
from django.test import Client

from runs.bench import Bench, Figure, Say
from runs.benches.matrix import BUDGET, REPEATS, SCENARIOS, VERSIONS, cost, generate

HOST = "testserver"


def measure(say: Say) -> list[Figure]:
    """Processor time of a whole answer, middleware included, once the process is warm."""
    say(f"storing the cells of {VERSIONS * SCENARIOS * REPEATS:,} runs")
    generate()
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, HOST]
    client = Client(headers={"accept-encoding": "gzip"})
    unit, figures = "ms of processor time", []
    for name, address in (("page", "/matrix/"), ("API", "/api/matrix")):
        answer = client.get(address)
        figures += [
            Figure(name, cost(partial(client.get, address)), unit, BUDGET),
            Figure(f"{name}, size", round(len(answer.content) / 1024), "KiB"),
        ]
    return figures


BENCH = Bench("Does the matrix page answer in time for 120,000 runs?", measure)
