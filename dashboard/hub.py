"""One hub per process and run: hears pokes, reads new rows once, serves every watcher.

The database is the log and Redis only pokes, so the hub also polls every second: a
lost poke costs a second, a dead Redis costs speed and nothing else. Sockets hold no
state here but a cursor; they wait on ``Watcher.wake`` and take what is past them from
the ring, or from a page of the database when they are further behind than the ring.
"""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from itertools import islice
from typing import Any

from channels.layers import get_channel_layer
from django.db import Error as DatabaseTrouble

from dashboard import reading
from dashboard.pictures import Picture
from runs import notify

log = logging.getLogger(__name__)

RING = 5_000
"""Events that are kept in memory for a run that somebody watches."""
PAGE = 500
POLL = 1.0
"""Seconds until the database is asked although nobody poked."""


class Watcher:
    """Somebody who follows a hub; `wake` is set when there may be something new."""

    def __init__(self) -> None:
        self.wake = asyncio.Event()


class BaseHub:
    """Pokes, polling and watchers; what is read and told is the subclass's."""

    def __init__(self, group: str) -> None:
        self.group = group
        self.watchers: set[Watcher] = set()
        self._poked = asyncio.Event()
        self._tasks: list[asyncio.Task[None]] = []

    async def start(self) -> None:
        """Begin to listen and to read."""
        for work in (self._listen(), self._pump()):
            self._tasks.append(asyncio.create_task(work))

    async def stop(self) -> None:
        """End every task of this hub."""
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def tell(self) -> None:
        """Wake every watcher."""
        for watcher in self.watchers:
            watcher.wake.set()

    async def advance(self) -> None:
        """Read what is new and tell the watchers."""
        raise NotImplementedError

    async def _pump(self) -> None:
        while True:
            self._poked.clear()
            try:
                await self.advance()
            except DatabaseTrouble as error:
                log.warning("Reading %s failed (%s); trying again.", self.group, error)
            try:
                await asyncio.wait_for(self._poked.wait(), POLL)
            except TimeoutError:
                pass

    async def _listen(self) -> None:
        """Hear pokes for as long as the hub lives, also across the death of Redis."""
        while True:
            layer = get_channel_layer()
            if layer is None:
                return
            try:
                channel = await layer.new_channel()
                await layer.group_add(self.group, channel)
                try:
                    while True:
                        await layer.receive(channel)
                        self._poked.set()
                finally:
                    await layer.group_discard(self.group, channel)
            except Exception as error:  # whatever is wrong with the layer, polling goes on
                log.warning("Nobody pokes (%s); polling.", type(error).__name__)
                await asyncio.sleep(POLL)


class RunHub(BaseHub):
    """The hub of one run: a ring of its newest events, its state, and its timeline."""

    def __init__(self, run_id: int) -> None:
        super().__init__(notify.group_of(run_id))
        self.run_id = run_id
        self.ring: deque[tuple[int, str]] = deque()
        self.base = 0
        """The ring holds every event above this number."""
        self.tip = 0
        self.state: dict[str, Any] | None = None
        self.state_version = 0
        self.limits: dict[str, float] = {}
        self.picture = Picture(run_id, self.tell)

    async def start(self) -> None:
        self.base = self.tip = await reading.in_rows_thread(reading.read_tip, self.run_id)
        self.limits = await reading.in_rows_thread(reading.read_limits, self.run_id)
        await super().start()
        self._tasks.append(asyncio.create_task(self.picture.keep()))

    async def advance(self) -> None:
        # The state first: whoever reads "ended" then has every event before it.
        state = await reading.in_rows_thread(reading.read_run, self.run_id)
        before = self.tip
        while True:
            rows = await reading.in_rows_thread(
                reading.read_events, self.run_id, self.tip, 2 * PAGE
            )
            self._keep(rows)
            if rows:
                self.tell()
            if len(rows) < 2 * PAGE:
                break
        changed = _without_count(state) != _without_count(self.state)
        self.state = state
        if changed:
            self.state_version += 1
        if changed or self.tip != before:
            self.picture.stale((self.state_version, self.tip))
            self.tell()

    def _keep(self, rows: list[tuple[int, str]]) -> None:
        self.ring.extend(rows)
        while len(self.ring) > RING:
            self.base = self.ring.popleft()[0]
        if rows:
            self.tip = rows[-1][0]

    async def after(self, seq: int, limit: int) -> list[tuple[int, str]]:
        """Up to `limit` events above `seq`, from the ring or a page of the database."""
        if seq < self.base:
            page = await reading.in_rows_thread(
                reading.read_events, self.run_id, seq, min(limit, PAGE)
            )
            return [row for row in page if row[0] <= self.tip]
        first = len(self.ring)
        # From the newest backwards: a watcher is nearly always near the tip.
        for row in reversed(self.ring):
            if row[0] <= seq:
                break
            first -= 1
        return list(islice(self.ring, first, first + limit))


def _without_count(state: dict[str, Any] | None) -> dict[str, Any] | None:
    return state and {key: value for key, value in state.items() if key != "event_count"}


class ListHub(BaseHub):
    """The hub of the list of runs: which rows changed, as a numbered sequence of changes."""

    NEWEST = 200

    def __init__(self) -> None:
        super().__init__(notify.RUNS)
        self.rows: dict[int, dict[str, Any]] = {}
        self.changes: dict[int, int] = {}
        """By run: the number of its newest change."""
        self.version = 0

    async def advance(self) -> None:
        rows = await reading.in_rows_thread(reading.read_rows, self.NEWEST)
        fresh = {row["pk"]: row for row in rows}
        changed = [pk for pk, row in fresh.items() if self.rows.get(pk) != row]
        first = not self.version
        self.rows = fresh
        if changed or first:
            self.version += 1
            self.changes.update(dict.fromkeys(changed, self.version))
            self.changes = {pk: at for pk, at in self.changes.items() if pk in fresh}
            self.tell()

    def since(self, version: int) -> list[dict[str, Any]]:
        """The rows that changed after that version, newest run first."""
        return [
            {key: value for key, value in self.rows[pk].items() if key != "pk"}
            for pk in sorted(self.changes, reverse=True)
            if self.changes[pk] > version
        ]
