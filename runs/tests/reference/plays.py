"""Plays many scenarios side by side, in a thread of its own, while tests wait for theirs.

Most of a play is waiting (for a stall, a backoff), so that a hundred of them side
by side take a fraction of their sum. Only what the chosen tests ask for is played.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Hashable, Mapping
from concurrent.futures import Future
from pathlib import Path
from typing import Any

from runs.tests.reference.stage import Played, play

AT_ONCE = 5
PATIENCE = 600.0


class Plays:
    """A loop in a thread, and the plays that were ordered there, by key."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()
        self._room = asyncio.Semaphore(AT_ONCE)
        self._ordered: dict[Hashable, Future[Played]] = {}

    def order(self, key: Hashable, scenario: str, sets: Mapping[str, Any], **options: Any) -> None:
        """Have it played as soon as there is room, once."""
        if key in self._ordered:
            return
        folder = self._folder / str(len(self._ordered))
        work = self._in_turn(play(scenario, folder, sets=sets, **options))
        self._ordered[key] = asyncio.run_coroutine_threadsafe(work, self._loop)

    async def _in_turn(self, work: Coroutine[Any, Any, Played]) -> Played:
        async with self._room:
            return await work

    def result(self, key: Hashable) -> Played:
        """What came of it."""
        return self._ordered[key].result(PATIENCE)

    def close(self) -> None:
        """Give up what was not waited for, and end the thread."""
        for future in self._ordered.values():
            future.cancel()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
