"""A bench: measures one thing and states it as figures, some of them with a budget.

Benches are one-file plug-ins in ``runs/benches`` and, where they need the web server or
a browser, in ``dashboard/benches``; each ends with ``BENCH = Bench(…)``. They are no
tests: a figure says what it is on this machine at this load. `manage.py bench` gives
each a process and a state folder of its own.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import Any

Say = Callable[[str], None]


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value. `value` None: it could not be measured, `note` says why."""

    name: str
    value: float | None
    unit: str = ""
    budget: float | None = None
    """The most that is allowed; None: nothing was promised."""
    floor: bool = False
    """The budget is the least that is allowed instead."""
    note: str = ""

    @property
    def met(self) -> bool | None:
        """Whether the budget is met; None where there is none or no value."""
        if self.budget is None or self.value is None:
            return None
        return self.value >= self.budget if self.floor else self.value <= self.budget

    def as_dict(self) -> dict[str, Any]:
        """As JSON, with `met`."""
        return asdict(self) | {"met": self.met}


Measure = Callable[[Say], Sequence[Figure]]


@dataclass(frozen=True, slots=True)
class Bench:
    """What a module of benches ends with."""

    question: str
    measure: Measure
    """Runs in a process of its own, its database migrated and empty."""
    up: bool = False
    """Whether an instance (`up`) has to run from the same state folder meanwhile."""
    by_name: bool = False
    """Takes long: measured only when it is named."""


def median(values: Sequence[float]) -> float:
    """The middle value."""
    return statistics.median(values)


def percentile(values: Sequence[float], share: float) -> float:
    """The value below which `share` (0 to 1) of the values lie."""
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]
