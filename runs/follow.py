"""Take runs to their end from a command: by the instance's worker, else in this process."""

from __future__ import annotations

import contextlib
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor

from django.conf import settings
from django.db import connection
from django.db.models import QuerySet

from runs import models, start, sweeps
from runs.tasks import reap_lost, worker_name

LOOK = 0.2


def to_the_end(runs: Sequence[models.Run], say: Callable[[str], None]) -> None:
    """Returns when every run has ended; the given rows are refreshed.

    SIGINT and SIGTERM cancel the runs that are still open and then wait for their end.
    """
    wish = threading.Event()
    with _signals_as(wish):
        if _is_served():
            _served(runs, say, wish)
        else:
            _here(runs, say, wish)
    for run in runs:
        run.refresh_from_db()


def sweep_to_the_end(sweep: models.Sweep, say: Callable[[str], None]) -> None:
    """The same for a sweep or a bisection, step by step; the row is refreshed.

    A signal pauses it (``--resume PERMALINK`` goes on); a run that it ended is made again then.
    """
    wish = threading.Event()
    with _signals_as(wish):
        while True:
            sweeps.advance(sweep)
            sweep.refresh_from_db()
            if wish.is_set():
                sweeps.pause(sweep)
            if sweep.state == models.Sweep.State.PAUSED:
                say(f"Paused. Go on with --resume {sweep.permalink}.")
                return
            if sweep.state != models.Sweep.State.GOING:
                return
            # None is open for a moment when a worker has ended the last one and asks for more.
            runs = list(sweep.runs.filter(status__in=models.Run.OPEN).order_by("pk"))
            if _is_served():
                sweeps.feed()
            else:
                reap_lost()
                some = runs[: max(1, settings.CONCURRENCY) * 4]
                _here(some, say, wish, lambda: sweeps.interrupt(sweep))
            time.sleep(LOOK)


def _is_served() -> bool:
    """Whether an instance's worker executes what is sent."""
    return bool(settings.REDIS_URL and start.workers())


def _served(runs: Sequence[models.Run], say: Callable[[str], None], wish: threading.Event) -> None:
    """By the instance's worker; in this process what is left when the instance is stopped."""
    for run in runs:
        start.send(run.pk)
    said: dict[int, str] = {}
    while True:
        _watch(runs, say, wish, lambda: not _is_served(), said=said)
        if not _is_served():
            reap_lost()
            queued = _of(runs).filter(status=models.Run.Status.QUEUED)
            if left := list(queued.order_by("pk")):
                say("The instance that would execute it is gone; it goes on here.")
                _here(left, say, wish)
        if not _of(runs).filter(status__in=models.Run.OPEN).exists():
            return
        time.sleep(LOOK)


def _of(runs: Sequence[models.Run]) -> QuerySet[models.Run]:
    return models.Run.objects.filter(pk__in=[run.pk for run in runs])


def _here(
    runs: Sequence[models.Run],
    say: Callable[[str], None],
    wish: threading.Event,
    stop: Callable[[], None] | None = None,
) -> None:
    with ThreadPoolExecutor(max_workers=max(1, settings.CONCURRENCY)) as pool:
        jobs = [pool.submit(_execute, run.pk) for run in runs]
        _watch(runs, say, wish, lambda: all(job.done() for job in jobs), stop)
        for job in jobs:
            job.result()


def _execute(run_id: int) -> None:
    from runs.execute import execute

    try:
        execute(run_id, worker=worker_name())
    finally:
        connection.close()


def _watch(
    runs: Sequence[models.Run],
    say: Callable[[str], None],
    wish: threading.Event,
    over: Callable[[], bool] = lambda: False,
    stop: Callable[[], None] | None = None,
    said: dict[int, str] | None = None,
) -> None:
    """Say what happens to the runs until they are over; on a wish `stop`, else cancel them."""
    said = {} if said is None else said
    while True:
        finished = over()
        if wish.is_set():
            wish.clear()
            say("Cancelling …")
            if stop is not None:
                stop()
            else:
                _cancel(runs)
        open_runs = 0
        for run in _of(runs):
            open_runs += run.is_open
            words = f"{run.agent} {run.version} {run.scenario}: {run.phase or run.status}"
            if said.get(run.pk) != words:
                said[run.pk] = words
                say(words)
        if finished or not open_runs:
            return
        time.sleep(LOOK)


def _cancel(runs: Sequence[models.Run]) -> None:
    for run in runs:
        start.cancel(run)


@contextlib.contextmanager
def _signals_as(wish: threading.Event) -> Iterator[None]:
    """While inside, SIGINT and SIGTERM set `wish` instead of ending the process."""
    previous = {}
    for number in (signal.SIGINT, signal.SIGTERM):
        try:
            previous[number] = signal.signal(number, lambda *_: wish.set())
        except ValueError:  # not in the main thread: whoever runs us handles signals
            pass
    try:
        yield
    finally:
        for number, handler in previous.items():
            signal.signal(number, handler)
