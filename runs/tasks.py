"""What the workers do: run what is queued; and upkeep: reap, queue again, cut down.

The message is acknowledged at once and the run is claimed by a conditional UPDATE,
so that a message delivered twice starts nothing twice. Redis forgets; the database
does not: the reaper sends again what is queued while nothing waits in Redis.
"""

from __future__ import annotations

import os
import platform
import socket
import threading
from datetime import timedelta
from typing import Any

from celery import shared_task
from celery.signals import worker_ready, worker_shutting_down
from django.conf import settings
from django.db import close_old_connections
from django.utils import timezone

from runs import models, notify, start

STALE = timedelta(seconds=30)
BEAT = 5.0
_stop_beating = threading.Event()


@shared_task(name="runs.execute", ignore_result=True)
def execute_run(run_id: int) -> None:
    """Execute one queued run in this process."""
    from runs.execute import execute

    execute(run_id, worker=worker_name())


@shared_task(name="runs.reap", ignore_result=True)
def reap() -> None:
    """Mark runs whose worker is gone as lost; send again what nobody will deliver."""
    reap_lost()
    send_forgotten()


def worker_name() -> str:
    """This process as shown on a run's page."""
    return f"{socket.gethostname()}:{os.getpid()}"


def reap_lost() -> int:
    """Runs without a heartbeat for 30 s become ``lost``; gives how many."""
    from runs import verdict

    stale = models.Run.objects.filter(
        status=models.Run.Status.RUNNING, heartbeat_at__lt=timezone.now() - STALE
    )
    lost = 0
    for run in stale:
        changed = models.Run.objects.filter(
            pk=run.pk, status=models.Run.Status.RUNNING, heartbeat_at=run.heartbeat_at
        ).update(
            status=models.Run.Status.LOST,
            ended_at=timezone.now(),
            phase="",
            error={
                "what": f"Its worker ({run.worker}) stopped beating while the run was going.",
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


def send_forgotten() -> int:
    """Queued runs that no message stands for are sent again; gives how many."""
    if messages_waiting() != 0:
        return 0
    free = sum(worker.concurrency for worker in start.workers())
    free -= models.Run.objects.filter(status=models.Run.Status.RUNNING).count()
    queued = models.Run.objects.filter(status=models.Run.Status.QUEUED).order_by("pk")
    settled = queued.filter(created_at__lt=timezone.now() - timedelta(seconds=3))
    if free <= 0:
        return 0
    ids = list(settled.values_list("pk", flat=True))
    for pk in ids:
        start.send(pk)
    return len(ids)


def messages_waiting() -> int | None:
    """How many messages wait in the queue of runs; None when the broker does not say."""
    from celery import current_app

    try:
        with current_app.connection_for_read() as connection:
            found = connection.default_channel.queue_declare("runs", passive=True)
            return int(found.message_count)
    except Exception:  # an empty Redis queue does not exist, a dead Redis does not answer
        return 0


@worker_ready.connect
def begin_beating(sender: Any = None, **_: Any) -> None:
    """Tell the database that a worker for runs listens, every five seconds."""
    queues = {queue.name for queue in sender.task_consumer.queues} if sender else set()
    if "runs" not in queues:
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
        "platform": f"{platform.system().lower()}-{platform.machine()}",
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
