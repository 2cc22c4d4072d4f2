"""Which hubs run in this process: made for the first watcher, ended after the last.

A hub lingers for some seconds so that a browser that reconnects finds its ring warm.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Hashable
from contextlib import asynccontextmanager
from typing import Any

from dashboard.hub import BaseHub, ListHub, RunHub

LINGER = 10.0


class _Entry:
    def __init__(self, hub: BaseHub) -> None:
        self.hub = hub
        self.users = 0
        self.ready: asyncio.Future[None] = asyncio.ensure_future(hub.start())
        self.farewell: asyncio.TimerHandle | None = None


class Hubs:
    """The running hubs of this process, by event loop and what they follow."""

    def __init__(self) -> None:
        self._entries: dict[tuple[int, Hashable], _Entry] = {}
        self._ending: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def run(self, run_id: int) -> AsyncIterator[RunHub]:
        """The hub of a run, started, for as long as the block lasts."""
        async with self._use(run_id, lambda: RunHub(run_id)) as hub:
            yield hub

    @asynccontextmanager
    async def list(self) -> AsyncIterator[ListHub]:
        """The hub of the list of runs, started, for as long as the block lasts."""
        async with self._use("list", ListHub) as hub:
            yield hub

    @asynccontextmanager
    async def _use(self, what: Hashable, make: Callable[[], Any]) -> AsyncIterator[Any]:
        loop = asyncio.get_running_loop()
        key = (id(loop), what)
        entry = self._entries.get(key)
        if entry is None:
            entry = self._entries[key] = _Entry(make())
        entry.users += 1
        if entry.farewell:
            entry.farewell.cancel()
            entry.farewell = None
        try:
            await asyncio.shield(entry.ready)
            yield entry.hub
        finally:
            entry.users -= 1
            failed = entry.ready.done() and (
                entry.ready.cancelled() or entry.ready.exception() is not None
            )
            if failed and self._entries.get(key) is entry:
                del self._entries[key]
            elif not entry.users:
                entry.farewell = loop.call_later(LINGER, self._end, key)

    def _end(self, key: tuple[int, Hashable]) -> None:
        entry = self._entries.pop(key)
        task = asyncio.ensure_future(entry.hub.stop())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)

    async def close(self) -> None:
        """End every hub of the running loop now (between tests)."""
        mine = [key for key in self._entries if key[0] == id(asyncio.get_running_loop())]
        for key in mine:
            entry = self._entries.pop(key)
            if entry.farewell:
                entry.farewell.cancel()
            await entry.hub.stop()


hubs = Hubs()
