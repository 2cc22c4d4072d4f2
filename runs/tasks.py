"""What the workers do: run what is queued; and upkeep: reap, queue again, cut down.

The message is acknowledged at once and the run is claimed by a conditional UPDATE,
so that a message delivered twice starts nothing twice. Redis forgets; the database
does not: the reaper sends again what is queued while nothing waits in Redis.
"""

from __future__ import annotations

import os
import socket
import threading
from datetime import timedelta
from typing import Any

import psutil
from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings
from django.db import close_old_connections
from django.utils import timezone

from runs import alive, installing, models, notify, retention, sweeps, verdict, watching

__all__ = ["execute_run", "installing", "reap", "watching"]
"""Celery finds its tasks in this module; those of the two named ones come with it."""
STALE = timedelta(seconds=30)
BEAT = 5.0
_stop_beating = threading.Event()


@shared_task(name="runs.execute", ignore_result=True)
def execute_run(run_id: int, agent: str = "", platform: str = "") -> None:
    """Execute one queued run in this process.

    `agent` and the sender's `platform` travel along for whoever routes messages to other hosts.
    """
    from runs.execute import execute

    run = execute(run_id, worker=worker_name())
    if run is not None and run.sweep is not None:
        sweeps.advance(run.sweep)
    sweeps.feed()


@shared_task(name="runs.reap", ignore_result=True)
def reap() -> None:
    """Mark runs whose worker is gone as lost; send what has room and is not on its way."""
    reap_lost()
    installing.tidy()
    sweeps.advance_all()
    sweeps.feed()


@shared_task(name="runs.tidy", ignore_result=True)
def tidy() -> None:
    """Remove old runs, where the operator asked for that."""
    retention.tidy()


def worker_name() -> str:
    """This process as shown on a run's page."""
    return f"{socket.gethostname()}:{os.getpid()}"


def reap_lost() -> int:
    """Runs whose worker is gone become ``lost``; gives how many.

    A worker of this host is gone when its process is; any other when it has not beaten for 30 s,
    unless a process of this host has the run in hand.
    """
    lost = 0
    for run in models.Run.objects.filter(status=models.Run.Status.RUNNING):
        stale = run.heartbeat_at is None or run.heartbeat_at < timezone.now() - STALE
        silent = stale and not alive.is_held(run.pk)
        if not silent and not _process_gone(run.worker):
            continue
        changed = models.Run.objects.filter(
            pk=run.pk, status=models.Run.Status.RUNNING, heartbeat_at=run.heartbeat_at
        ).update(
            status=models.Run.Status.LOST,
            ended_at=timezone.now(),
            phase="",
            error={
                "what": f"Its worker ({run.worker}) ended while the run was going.",
                "do": "What was stored until then is below. Run it again.",
            },
        )
        if changed:
            lost += 1
            run.refresh_from_db()
            verdict.judge_quietly(run)
            notify.poke_run(run.pk)
            notify.poke_runs(run.pk)
    return lost


def _process_gone(worker: str) -> bool:
    """Whether a worker of this host has no process any more."""
    host, _, pid = worker.rpartition(":")
    return host == socket.gethostname() and pid.isdecimal() and not psutil.pid_exists(int(pid))


@worker_ready.connect
def begin_beating(sender: Any = None, **_: Any) -> None:
    """Tell the database that a worker for runs listens, every five seconds."""
    queues = {queue.name for queue in sender.task_consumer.queues} if sender else set()
    if queues <= {"upkeep"}:
        return
    thread = threading.Thread(target=_beat, name="worker-beat", daemon=True)
    thread.start()


def _beat() -> None:
    while True:
        _say_alive()
        if _stop_beating.wait(BEAT):
            return


def _say_alive() -> None:
    close_old_connections()
    fresh = {
        "beat_at": timezone.now(),
        "concurrency": settings.CONCURRENCY,
        "platform": settings.PLATFORM,
    }
    try:
        models.Worker.objects.update_or_create(name=worker_name(), defaults=fresh)
    except Exception:  # the database may be busy or away; the next beat tries again
        pass


@worker_shutting_down.connect
def stop_beating(**_: Any) -> None:
    """The worker ends: nobody should wait for it."""
    _stop_beating.set()
    try:
        models.Worker.objects.filter(name=worker_name()).delete()
    except Exception:  # it ends in any case; its beat grows stale
        pass
