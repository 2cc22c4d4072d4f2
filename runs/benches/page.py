"""What a page of events costs in a short run and in one a thousand times as long."""

from __future__ import annotations

import json
import secrets
import time
from collections.abc import Callable
from functools import partial

from django.db import connection, transaction
from django.utils import timezone

from runs import store
from runs.bench import Bench, Figure, Say, median
from runs.models import Event, Run

SHORT, LONG = 1_000, 1_000_000
REPEATS = 40
BUDGET = 1.5
"""How many times a page of the short run one of the long run may cost: one, and noise."""


def measure(say: Say) -> list[Figure]:
    """Processor time of the first page, one in the middle and the last one."""
    short, long = stored(SHORT), stored(LONG, say)
    base = cost(lambda: store.page(short, after=SHORT // 4))
    figures = [Figure(f"a page of {SHORT:,} events", base, "ms of processor time")]
    for words, after in (("first", 0), ("middle", LONG // 2), ("last", LONG - store.PAGE)):
        ratio = cost(partial(store.page, long, after=after)) / base
        name = f"the {words} page of {LONG:,} / that"
        figures.append(Figure(name, round(ratio, 3), "", BUDGET))
    return figures


def cost(work: Callable[[], object]) -> float:
    """Median processor time in milliseconds."""
    work()
    taken = []
    for _ in range(REPEATS):
        began = time.process_time()
        work()
        taken.append((time.process_time() - began) * 1000)
    return round(median(taken), 3)


def stored(count: int, say: Say = lambda _: None) -> Run:
    """An ended run of so many plain events, written as fast as the database takes them."""
    run = Run.objects.create(
        agent="reference",
        version="1",
        scenario="sse-cut",
        status=Run.Status.ENDED,
        permalink=secrets.token_hex(8),
        started_at=timezone.now(),
        ended_at=timezone.now(),
        event_count=count,
    )
    place = ("source", "file", "line", "pointer")
    fields = ("run_id", "seq", "t", "kind", "agent", *place, "native", "native_id", "data")
    names = ", ".join(connection.ops.quote_name(name) for name in fields)
    places = ", ".join(["%s"] * len(fields))
    statement = f"INSERT INTO {Event._meta.db_table} ({names}) VALUES ({places})"
    for first in range(1, count + 1, 50_000):
        rows = [_row(run.pk, seq) for seq in range(first, min(first + 50_000, count + 1))]
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.executemany(statement, rows)
        say(f"stored {first + len(rows) - 1:,} of {count:,} events")
    return run


def _row(run_id: int, seq: int) -> tuple[int | float | str, ...]:
    data = json.dumps({"text_length": seq, "preview": "as the agent wrote it", "turn": seq % 50})
    place = ("session", "session-events.jsonl", seq, "")
    return (run_id, seq, seq / 100, "message.agent", "root", *place, "assistant.message", "", data)


BENCH = Bench("Does the cost of a page of events grow with the run?", measure)
