"""What the live part reads, in threads of its own.

The hub must never queue behind a page that renders or a picture that is drawn, so
rows are read in one thread with one lasting connection, and timelines are computed
in another. A connection that broke is dropped; the caller polls again in a second.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

from django.db import DatabaseError, InterfaceError, connection

from runs.core.law import Thresholds
from runs.models import Event, Run

Result = TypeVar("Result")

_rows = ThreadPoolExecutor(1, thread_name_prefix="live-rows")
_pictures = ThreadPoolExecutor(1, thread_name_prefix="live-pictures")

_COLUMNS = (
    "seq",
    "t",
    "kind",
    "agent",
    "source",
    "file",
    "line",
    "pointer",
    "native",
    "data",
)
_RUN_COLUMNS = (
    "permalink",
    "kind",
    "status",
    "phase",
    "agent",
    "version",
    "scenario",
    "outcome",
    "diagnosis",
    "broken",
    "exit_code",
    "event_count",
    "created_at",
    "started_at",
    "ended_at",
    "cancel_at",
)


def _guarded(work: Callable[..., Result], *arguments: Any) -> Result:
    try:
        return work(*arguments)
    except (DatabaseError, InterfaceError):
        connection.close()
        raise


async def in_rows_thread(work: Callable[..., Result], *arguments: Any) -> Result:
    """Run a short read in the thread that reads rows."""
    return await asyncio.get_running_loop().run_in_executor(_rows, _guarded, work, *arguments)


async def in_picture_thread(work: Callable[..., Result], *arguments: Any) -> Result:
    """Run a longer computation in the thread that draws pictures."""
    return await asyncio.get_running_loop().run_in_executor(_pictures, _guarded, work, *arguments)


def close_connections() -> None:
    """Close the database connections of both threads (at shutdown and between tests)."""
    for pool in (_rows, _pictures):
        pool.submit(connection.close).result()


def find_run(permalink: str) -> int | None:
    """The primary key of the run with that address, if there is one."""
    return Run.objects.filter(permalink=permalink).values_list("pk", flat=True).first()


def read_tip(run_id: int) -> int:
    """The highest event number that is stored for the run, 0 for none."""
    newest = Event.objects.filter(run_id=run_id).order_by("-seq").values_list("seq", flat=True)
    return newest.first() or 0


def read_events(run_id: int, after: int, limit: int) -> list[tuple[int, str]]:
    """Up to `limit` events above `after`, in order, each as (seq, JSON text)."""
    rows = (
        Event.objects.filter(run_id=run_id, seq__gt=after)
        .order_by("seq")
        .values_list(*_COLUMNS)[:limit]
    )
    return [(row[0], compact(dict(zip(_COLUMNS, row, strict=True)))) for row in rows]


def read_run(run_id: int) -> dict[str, Any] | None:
    """The run's changing fields as the socket gives them; None when it was deleted.

    Times are epoch seconds.
    """
    row = Run.objects.filter(pk=run_id).values(*_RUN_COLUMNS).first()
    return row and _with_epochs(row)


def read_limits(run_id: int) -> dict[str, float]:
    """What "silent 41 s of 180 s" is measured by; it never changes."""
    snapshot = Run.objects.filter(pk=run_id).values_list("snapshot", flat=True).first()
    return limits(snapshot or {})


def limits(snapshot: dict[str, Any]) -> dict[str, float]:
    """The deadline (where set) and the stall limit of a scenario's snapshot, in seconds."""
    guards = snapshot.get("guards") or {}
    thresholds = snapshot.get("thresholds") or {}
    found = {
        "deadline": guards.get("deadline"),
        "stall": thresholds.get("stall_after", Thresholds().stall_after),
    }
    return {name: float(value) for name, value in found.items() if isinstance(value, int | float)}


def read_rows(newest: int) -> list[dict[str, Any]]:
    """The newest runs and every open one, newest first, as the list's socket gives them."""
    fresh = list(Run.objects.order_by("-pk").values(*_RUN_COLUMNS, "pk")[:newest])
    known = {row["pk"] for row in fresh}
    still_open = Run.objects.filter(status__in=Run.OPEN).exclude(pk__in=known)
    rows = fresh + list(still_open.order_by("-pk").values(*_RUN_COLUMNS, "pk")[:newest])
    return [_with_epochs(row) for row in rows]


def _with_epochs(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: value.timestamp() if key.endswith("_at") and value is not None else value
        for key, value in row.items()
    }


def compact(value: Any) -> str:
    """The value as the shortest JSON text."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
