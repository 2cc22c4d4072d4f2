"""To which of a session's processes a clock belongs that counts from the start of its own.

A session that is loaded again later has several; an exit is of one of them, and so may be a
request log.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from runs.core.events import Draft, Kind

SLACK = 1.0
"""Seconds by which a request may seem to come before the start of whoever makes it."""


def start_of(drafts: Sequence[Draft], known: Sequence[Sequence[Draft]]) -> float | None:
    """Epoch seconds of the restart with which a relative clock surely began; None: no such one.

    `drafts` are the file's, `known` those of files with epoch times.
    """
    timed = [one for file in known for one in file if one.at is not None]
    again = sorted({one.at for one in timed if one.kind is Kind.SESSION_RESUMED and one.at})
    if not again:
        return None
    first = min(one.at for one in timed if one.at is not None)
    starts = [first, *again]
    found: float | None
    exits = [one.at for one in drafts if one.kind is Kind.PROCESS_EXITED and one.at is not None]
    if exits:
        found = _by_exit(exits[-1], starts, [one.at for one in timed if one.at is not None])
    else:
        found = _by_callers(drafts, starts, timed)
    return None if found == first else found


def _by_exit(lasted: float, starts: Sequence[float], times: Sequence[float]) -> float:
    """The start of the process whose records stop nearest to its exit."""
    nearest, best = starts[0], float("inf")
    for start, following in pairwise([*starts, float("inf")]):
        last = max((at for at in times if start <= at < following), default=start)
        if abs(start + lasted - last) < best:
            nearest, best = start, abs(start + lasted - last)
    return nearest


def _by_callers(
    drafts: Sequence[Draft], starts: Sequence[float], timed: Sequence[Draft]
) -> float | None:
    """The first start by which nobody asks a model before it is born."""
    born: dict[str, float] = {}
    asks: dict[str, float] = {}
    for found, rows, kind in (
        (born, timed, Kind.AGENT_STARTED),
        (asks, drafts, Kind.REQUEST_RECEIVED),
    ):
        for one in rows:
            if one.kind is kind and one.agent and one.at is not None:
                found[one.agent] = min(found.get(one.agent, one.at), one.at)
    both = born.keys() & asks.keys()
    fits = (
        start for start in starts if all(start + asks[one] >= born[one] - SLACK for one in both)
    )
    return next(fits, None)
