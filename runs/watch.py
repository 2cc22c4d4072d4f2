"""The run's row while it is executed: heartbeat, phase, and the wish to cancel.

A thread of its own, so that a long installation still beats and can be cancelled.
"""

from __future__ import annotations

import asyncio
import threading
import time
from types import TracebackType
from typing import Any

from django.db import close_old_connections, connection
from django.utils import timezone

from runs import models, notify

LOOK = 0.25
BEAT = 5.0


class Watch:
    """Beats every five seconds, looks four times a second whether somebody cancelled the run."""

    def __init__(self, run: models.Run) -> None:
        self.run = run
        self.cancelled = False
        self.event = asyncio.Event()
        self._loop: asyncio.AbstractEventLoop | None = None
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._watch, name="run-watch", daemon=True)
        self._words = run.phase

    def __enter__(self) -> Watch:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _: TracebackType | None
    ) -> None:
        self._over.set()
        self._thread.join()

    def attach(self, loop: asyncio.AbstractEventLoop) -> None:
        """The loop in which `event` is awaited."""
        self._loop = loop
        if self.cancelled:
            self.event.set()

    def phase(self, words: str) -> None:
        """Say on the page where the run is; may be called from any thread, often."""
        self._words = words[:200]

    def save(self, **values: Any) -> None:
        """Store fields of the run's row and poke (not for the loop's thread)."""
        models.Run.objects.filter(pk=self.run.pk, status=models.Run.Status.RUNNING).update(**values)
        for name, value in values.items():
            setattr(self.run, name, value)
        notify.poke_run(self.run.pk)
        notify.poke_runs(self.run.pk)

    def _watch(self) -> None:
        beaten = time.monotonic()
        while not self._over.wait(LOOK):
            try:
                close_old_connections()
                if self._words != self.run.phase:
                    self.save(phase=self._words)
                mine = models.Run.objects.filter(pk=self.run.pk)
                if time.monotonic() - beaten >= BEAT:
                    beaten = time.monotonic()
                    mine.filter(status=models.Run.Status.RUNNING).update(
                        heartbeat_at=timezone.now()
                    )
                row = mine.values_list("status", "cancel_at").first()
            except Exception:  # the database is busy or away: the next look tries again
                continue
            if row is None or row[0] != models.Run.Status.RUNNING or row[1] is not None:
                self._cancel()
        connection.close()

    def _cancel(self) -> None:
        if not self.cancelled:
            self.cancelled = True
            if self._loop is not None and not self._loop.is_closed():
                self._loop.call_soon_threadsafe(self.event.set)
