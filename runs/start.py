"""Making, queueing, cancelling and removing runs; the only way in for pages, API and commands."""

from __future__ import annotations

import re
import secrets
import shutil
from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import Q
from django.utils import timezone

from runs import catalogue, grid, models, named, notify, pictures, saved, scenario, store
from runs.core.diagnosis import LABELS
from runs.core.outcome import OUTCOMES
from runs.errors import HarnessError, UnknownName

VERSION = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}")
MAX_REPEAT = 100
WORKER_ALIVE = timedelta(seconds=20)


def split_agent(text: str) -> tuple[str, str]:
    """``copilot@1.0.81`` as agent and version; without a version the version is empty."""
    agent, _, version = text.partition("@")
    catalogue.driver(agent)
    if version and not VERSION.fullmatch(version):
        raise UnknownName(f"{version!r} is no version.", "Write AGENT@VERSION, as copilot@1.0.81.")
    return agent, version


def create(
    agent: str,
    version: str,
    scenario_name: str,
    *,
    sets: Mapping[str, Any] | None = None,
    repeat: int = 1,
    expect: str = "",
    queue: bool = True,
    given: scenario.Scenario | None = None,
    batch: str = "",
) -> list[models.Run]:
    """Make runs of one scenario on one binary and queue them once the transaction commits.

    NotApplicable: it has no meaning for this binary. UnknownName: agent, version or option.
    ScenarioError: the scenario or a ``--set`` key.
    `given` is a scenario that was read already (a file, an editor); else it is looked up.
    """
    catalogue.driver(agent)
    version = named.resolve(agent, version)
    if not VERSION.fullmatch(version):
        raise UnknownName(f"{version!r} is no version.", "Write it as 1.0.81.")
    check_repeat(repeat)
    if expect and expect not in (*OUTCOMES, *LABELS):
        raise HarnessError(
            f"{expect!r} is no outcome and no diagnosis.", scenario.nearest(expect, OUTCOMES)
        )
    chosen, typed = bent(agent, given or saved.load(scenario_name), sets or {})
    catalogue.check_meaning(agent, version, chosen, typed)
    batch = batch or (secrets.token_hex(8) if repeat > 1 else "")
    with transaction.atomic():
        runs = [
            models.Run.objects.create(
                agent=agent,
                version=version,
                scenario=chosen.name,
                snapshot=chosen.as_dict(),
                options=typed,
                expect=expect,
                batch=batch,
            )
            for _ in range(repeat)
        ]
        if queue:
            for run in runs:
                transaction.on_commit(partial(send, run.pk))
    return runs


def check_repeat(repeat: int) -> None:
    """HarnessError where it is no number of repeats."""
    if not 1 <= repeat <= MAX_REPEAT:
        raise HarnessError(f"repeat is 1 to {MAX_REPEAT}, not {repeat}.")


def bent(
    agent: str, chosen: scenario.Scenario, sets: Mapping[str, Any]
) -> tuple[scenario.Scenario, dict[str, Any]]:
    """The scenario and the driver's options that a run with these ``--set`` is made of."""
    chosen, options = chosen.with_sets(sets)
    for name in options:
        catalogue.driver(name)
    try:
        return chosen, catalogue.driver(agent).read_options(options.get(agent, {}))
    except ValueError as error:
        raise HarnessError(f"Option of {agent}: {error}.") from None


def send(run_id: int) -> None:
    """Put the run into the queue; a queue that does not answer is made good by the reaper."""
    from runs.tasks import execute_run

    models.Run.objects.filter(pk=run_id).update(sent_at=timezone.now())
    notify.poke_runs(run_id)
    try:
        agent = models.Run.objects.values_list("agent", flat=True).get(pk=run_id)
        execute_run.apply_async(
            (run_id,),
            {"agent": agent, "platform": settings.PLATFORM},
            queue=settings.QUEUES.get(agent, "runs"),
            retry=False,
        )
    except Exception:  # the broker is away: the run stays queued in the database
        pass


def workers() -> list[models.Worker]:
    """The workers whose beat is fresh."""
    since = timezone.now() - WORKER_ALIVE
    return list(models.Worker.objects.filter(beat_at__gte=since).order_by("name"))


def position(run: models.Run) -> int:
    """Its place in the queue, 1 for the next one; 0 when it is not queued."""
    if run.status != models.Run.Status.QUEUED:
        return 0
    return models.Run.objects.filter(status=models.Run.Status.QUEUED, pk__lte=run.pk).count()


def cancel(run: models.Run) -> None:
    """Ask for the end of an open run; a queued one is cancelled at once."""
    now = timezone.now()
    models.Run.objects.filter(pk=run.pk, status__in=models.Run.OPEN).update(cancel_at=now)
    models.Run.objects.filter(pk=run.pk, status=models.Run.Status.QUEUED).update(
        status=models.Run.Status.CANCELLED, ended_at=now, phase=""
    )
    notify.poke_run(run.pk)
    notify.poke_runs(run.pk)


def again(run: models.Run, version: str | None = None) -> models.Run:
    """The same scenario, options and expectation once more, on this or another version."""
    if run.kind != models.Run.Kind.RUN:
        raise HarnessError("An import cannot be run again.", "Start the proposed reproduction.")
    chosen = version or run.version
    if not VERSION.fullmatch(chosen):
        raise UnknownName(f"{chosen!r} is no version.", "Write it as 1.0.81.")
    with transaction.atomic():
        fresh = models.Run.objects.create(
            agent=run.agent,
            version=chosen,
            scenario=run.scenario,
            snapshot=run.snapshot,
            options=run.options,
            expect=run.expect,
            tags=run.tags,
        )
        transaction.on_commit(lambda: send(fresh.pk))
    return fresh


def delete(run: models.Run) -> None:
    """Remove an ended run with its events and files; HarnessError while it is open."""
    if run.is_open:
        raise HarnessError("An open run cannot be deleted.", "Cancel it first.")
    shutil.rmtree(store.folder(run), ignore_errors=True)
    pictures.forget(run)
    models.Event.objects.filter(run=run)._raw_delete("default")
    run.delete()
    grid.refresh(run.agent, run.version, run.scenario)
    notify.poke_runs()


def claim(run_id: int, worker: str) -> models.Run | None:
    """Take a queued run; None when another got there first, or it was cancelled or paused."""
    now = timezone.now()
    taken = models.Run.objects.filter(
        Q(sweep__isnull=True) | Q(sweep__state=models.Sweep.State.GOING),
        cancel_at__isnull=True,
        pk=run_id,
        status=models.Run.Status.QUEUED,
    ).update(
        status=models.Run.Status.RUNNING,
        started_at=now,
        heartbeat_at=now,
        worker=worker,
        phase="preparing",
    )
    if taken != 1:
        return None
    notify.poke_run(run_id)
    notify.poke_runs(run_id)
    return models.Run.objects.get(pk=run_id)
