"""Reading a log of one gigabyte in bounded memory."""

from __future__ import annotations

from collections.abc import Sequence

from runs.bench import Bench, Figure, Say
from runs.benches.imports import figures

EVENTS = (1 << 30) // 1650
"""Of about 1,650 bytes each."""


def measure(say: Say) -> Sequence[Figure]:
    """One gigabyte of one session."""
    return figures("1 GB", EVENTS, 2000, say)


BENCH = Bench("How much memory does a log of one gigabyte need?", measure, by_name=True)
