"""The only writer of a run's events: numbers them, writes batches, pokes.

``add`` may be called from the loop's thread only; writing happens in one thread
of its own: at once after a quiet moment, else every 25 ms or 500 events, so that a slow
database never holds up the pumps and a fast agent never makes a transaction an event.
What a database that is away or full does not take is kept and offered again.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from django.db import (
    DatabaseError,
    InterfaceError,
    OperationalError,
    connection,
    transaction,
)

from runs import models, notify
from runs.core.events import Draft, Event, Kind, number

log = logging.getLogger(__name__)
EVERY = 0.025
"""Seconds between two batches, at least."""
BATCH = 500
AGAIN = 0.5
"""Seconds until a batch that was not taken is offered again."""
PATIENCE = 60.0
"""Seconds that the last batch is offered; then the run's record is not whole, and it says so."""
CLOCK_SLACK = 2.0
"""Seconds by which an agent's own clock may differ from ours before we prefer ours."""


class Recorder:
    """Numbers the drafts of one run and stores them.

    `started` is the run's start in epoch seconds. A draft's own time is kept when
    it lies within the run; otherwise the time of arrival is taken.
    """

    def __init__(self, run_id: int, started: float, *, first: int = 1) -> None:
        self.run_id = run_id
        self.started = started
        self.last = first - 1
        self.stored = 0
        self._waiting: list[models.Event] = []
        self._seen: dict[str, tuple[int, str]] = {}
        self._writer = ThreadPoolExecutor(1, thread_name_prefix="recorder")
        self._task: asyncio.Task[None] | None = None
        self._any, self._full = asyncio.Event(), asyncio.Event()
        self._over = False
        self._again = False
        self._listeners: list[Callable[[Event], None]] = []

    def start(self) -> None:
        """Begin to write in the background of the running loop."""
        self._task = asyncio.create_task(self._run())

    def listen(self, listener: Callable[[Event], None]) -> None:
        """Call `listener` with every event as it is numbered."""
        self._listeners.append(listener)

    def add(self, draft: Draft) -> Event:
        """Number one draft and queue it for writing; gives the event."""
        mirrored = self._mirror(draft)
        event = number(mirrored or draft, self.last + 1, self._time(draft))
        self.last = event.seq
        if draft.native_id and mirrored is None:
            self._seen.setdefault(draft.native_id, (event.seq, draft.source))
        self._waiting.append(row_of(self.run_id, event))
        self._any.set()
        if len(self._waiting) >= BATCH:
            self._full.set()
        for listener in self._listeners:
            listener(event)
        return event

    def note(self, phase: str, **detail: Any) -> Event:
        """Record a decision or step of ours."""
        return self.add(
            Draft(
                kind=Kind.PHASE,
                source="harness",
                file="harness",
                at=time.time(),
                data={"phase": phase, "detail": detail},
            )
        )

    async def stop(self) -> None:
        """Write what waits and end the writer; the database's error if it does not take it."""
        self._over = True
        self._any.set()
        self._full.set()
        try:
            if self._task:
                await self._task
            until = time.monotonic() + PATIENCE
            while not await self._flush(last=time.monotonic() >= until):
                await asyncio.sleep(AGAIN)
        finally:
            self._writer.submit(connection.close)
            self._writer.shutdown(wait=True)

    def _mirror(self, draft: Draft) -> Draft | None:
        """The same record in a second view becomes a sighting of the first."""
        seen = self._seen.get(draft.native_id) if draft.native_id else None
        if seen is None or seen[1] == draft.source:
            return None
        return Draft(
            kind=Kind.SEEN_AGAIN,
            source=draft.source,
            file=draft.file,
            at=draft.at,
            agent=draft.agent,
            data={"of": seen[0]},
            line=draft.line,
            pointer=draft.pointer,
            native=draft.native,
            offset=draft.offset,
            length=draft.length,
        )

    def _time(self, draft: Draft) -> float:
        now = time.time()
        at = draft.at
        if at is None or not self.started - CLOCK_SLACK <= at <= now + CLOCK_SLACK:
            at = now
        return round(max(0.0, at - self.started), 6)

    async def _run(self) -> None:
        due = 0.0
        while not self._over:
            await self._any.wait()
            try:
                await asyncio.wait_for(self._full.wait(), max(0.0, due - time.monotonic()))
            except TimeoutError:
                pass
            due = time.monotonic() + EVERY
            self._any.clear()
            self._full.clear()
            if not await self._flush() and not self._over:
                await asyncio.sleep(AGAIN)
                self._any.set()

    async def _flush(self, *, last: bool = False) -> bool:
        """Whether the database took what waits; `last`: its error if not."""
        batch, self._waiting = self._waiting, []
        if not batch:
            return True
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._writer, self._write, batch, self._again)
        except (OperationalError, InterfaceError) as error:
            if not self._again:
                log.warning("Run %s: the database does not take its events: %s", self.run_id, error)
            self._again = True
            self._waiting = batch + self._waiting
            if last:
                raise
            return False
        self._again = False
        return True

    def _write(self, batch: list[models.Event], again: bool) -> None:
        # One connection for the whole run: opening one for each batch costs more than the batch.
        # What is offered again may have been stored: a connection can break after a commit.
        try:
            with transaction.atomic():
                models.Event.objects.bulk_create(batch, batch_size=BATCH, ignore_conflicts=again)
                models.Run.objects.filter(pk=self.run_id).update(event_count=batch[-1].seq)
        except (DatabaseError, InterfaceError):
            connection.close()
            raise
        self.stored = batch[-1].seq
        notify.poke_run(self.run_id)


def row_of(run_id: int, event: Event) -> models.Event:
    """The event as an unsaved row; texts bounded to their columns, NULs made visible."""
    return models.Event(
        run_id=run_id,
        seq=event.seq,
        t=event.t,
        kind=str(event.kind),
        agent=clean_text(event.agent, 200),
        source=event.source,
        file=clean_text(event.file, 400),
        line=event.line,
        pointer=clean_text(event.pointer, 400),
        native=clean_text(event.native, 120),
        native_id=clean_text(event.native_id, 200),
        offset=event.offset,
        length=event.length,
        data=clean_json(event.data),
    )


def clean_text(text: str, limit: int) -> str:
    """The text as a column takes it: bounded, NULs made visible, no lone surrogates."""
    return text.replace("\x00", "␀").encode("utf-8", "replace").decode("utf-8")[:limit]


def clean_json(value: Any) -> Any:
    """What PostgreSQL's JSON refuses (NUL, lone surrogates) made visible, depth kept."""
    if isinstance(value, str):
        return clean_text(value, 65_536)
    if isinstance(value, dict):
        return {clean_text(str(key), 200): clean_json(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [clean_json(item) for item in value]
    if isinstance(value, float) and value != value:
        return None
    return value
