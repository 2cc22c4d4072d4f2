"""The events of an import as rows of the database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from runs import models
from runs.core.events import Event, Kind
from runs.recorder import row_of

BATCH = 1000


def rows_of(run_id: int, events: Iterable[Event]) -> Iterator[models.Event]:
    """Numbered rows; each further sighting becomes a row of its own, as in a run."""
    seq = 0
    for event in events:
        seq += 1
        first = seq
        row = row_of(run_id, event)
        row.seq = seq
        yield row
        for place in event.also:
            seq += 1
            yield models.Event(
                run_id=run_id,
                seq=seq,
                t=event.t,
                kind=Kind.SEEN_AGAIN.value,
                agent=row.agent,
                source=place.source,
                file=place.file[:400],
                line=place.line,
                pointer=place.pointer[:400],
                native=row.native,
                data={"of": first},
            )


def write(run: models.Run, rows: Iterable[models.Event]) -> int:
    """Store rows in batches; gives the last number, which the run's row then has."""
    batch: list[models.Event] = []
    last = 0
    for row in rows:
        batch.append(row)
        if len(batch) >= BATCH:
            models.Event.objects.bulk_create(batch)
            last, batch = batch[-1].seq, []
    if batch:
        models.Event.objects.bulk_create(batch)
        last = batch[-1].seq
    run.event_count = last
    return last
