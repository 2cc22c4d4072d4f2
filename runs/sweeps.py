"""Sweeps and bisections: many runs as a plan, fed to the workers in a fair order.

The runs of a sweep stand in the database from the start, repeat by repeat, so that
every cell has a first answer early. ``feed`` sends only as many as the workers have
room for: a single press of Run never waits behind a sweep, and of two sweeps the one
that waited longest is served. A bisection asks for its next runs when the last ones
have ended. What a killed worker lost is run again, what ended never is.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.db import router, transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone

from runs import bisections, grid, models, notify, saved, start
from runs.errors import HarnessError, NotApplicable

MOST_RUNS = 5000
LOST_RETRIES = 3
"""How often a lost run of a sweep is replaced."""
IN_FLIGHT = timedelta(seconds=30)
"""How long a message counts before it is taken for lost."""


def create(
    chosen: Sequence[tuple[str, str]],
    names: Sequence[str],
    *,
    repeat: int = 1,
    sets: Mapping[str, Any] | None = None,
    only_missing: bool = False,
) -> models.Sweep:
    """Make a sweep and its runs; nothing is sent before `feed`.

    `only_missing` counts the ended runs of the same cell that are there already; with `sets`
    only those that were made with the same.
    HarnessError when it is empty or too large; ScenarioError and UnknownName as in `start`.
    """
    if not chosen or not names:
        raise HarnessError("A sweep needs at least one agent and one scenario.")
    start.check_repeat(repeat)
    if len(chosen) * len(names) * repeat > MOST_RUNS:
        raise HarnessError(f"A sweep may have {MOST_RUNS} runs at most.")
    stored = {name: saved.load(name).name for name in names}
    wanted = {
        (agent, version, name): max(0, repeat - _present(agent, version, stored[name], sets or {}))
        if only_missing
        else repeat
        for name in names
        for agent, version in chosen
    }
    with transaction.atomic():
        sweep = models.Sweep.objects.create(
            plan={
                "binaries": [list(pair) for pair in chosen],
                "scenarios": list(names),
                "repeat": repeat,
                "sets": dict(sets or {}),
            }
            | ({"missing": [[*place, n] for place, n in wanted.items()]} if only_missing else {})
        )
        left: dict[tuple[str, str, str], str] = {}
        for number in range(1, repeat + 1):
            for place, n in wanted.items():
                if n < number or place in left:
                    continue
                try:
                    add_runs(sweep, *place)
                except NotApplicable as why:
                    left[place] = why.what
        if left and len(left) == len(wanted):
            raise NotApplicable(next(iter(left.values())))
        sweep.plan["left_out"] = [_left(*place, why) for place, why in left.items()]
        sweep.save(update_fields=["plan"])
    return sweep


def _left(agent: str, version: str, name: str, why: str) -> dict[str, str]:
    return {"agent": agent, "version": version, "scenario": name, "words": why}


def _present(agent: str, version: str, name: str, sets: Mapping[str, Any]) -> int:
    ended = models.Run.objects.filter(
        agent=agent, version=version, scenario=name, status=models.Run.Status.ENDED
    )
    if not sets:
        return ended.count()
    chosen, options = start.bent(agent, saved.load(name), sets)
    made = chosen.as_dict(), options
    return sum(row == made for row in ended.values_list("snapshot", "options"))


def add_runs(
    sweep: models.Sweep, agent: str, version: str, name: str, times: int = 1
) -> list[models.Run]:
    """More runs of one cell; they wait for `feed`."""
    runs = start.create(
        agent, version, name, sets=sweep.plan.get("sets", {}), repeat=times, queue=False
    )
    models.Run.objects.filter(pk__in=[run.pk for run in runs]).update(sweep=sweep, batch="")
    return runs


def feed() -> int:
    """Send what the workers have room for, in a fair order; gives how many were sent."""
    now = timezone.now()
    going = models.Run.objects.filter(
        Q(sweep__isnull=True) | Q(sweep__state=models.Sweep.State.GOING),
        status=models.Run.Status.QUEUED,
    )
    flying = going.filter(sent_at__gte=now - IN_FLIGHT).count()
    running = models.Run.objects.filter(status=models.Run.Status.RUNNING).count()
    room = sum(worker.concurrency for worker in start.workers()) or settings.CONCURRENCY
    free = room - running - flying
    if free <= 0:
        return 0
    waiting = going.exclude(sent_at__gte=now - IN_FLIGHT)
    chosen = list(waiting.filter(sweep__isnull=True).order_by("pk")[:free])
    while len(chosen) < free:
        oldest = F("sweep__served_at").asc(nulls_first=True)
        rest = waiting.filter(sweep__isnull=False).exclude(pk__in=[run.pk for run in chosen])
        run = rest.order_by(oldest, "pk").first()
        if run is None:
            break
        models.Sweep.objects.filter(runs=run).update(served_at=timezone.now())
        chosen.append(run)
    for run in chosen:
        start.send(run.pk)
    return len(chosen)


def advance(sweep: models.Sweep) -> None:
    """Take a sweep further: replace what was lost, ask for a bisection's next runs, or end it."""
    with transaction.atomic(using=router.db_for_write(models.Sweep)):
        held = models.Sweep.objects.select_for_update().get(pk=sweep.pk)
        if held.state != models.Sweep.State.GOING:
            return
        _replace_lost(held)
        if held.search:
            bisections.advance(held)
        if not held.runs.filter(status__in=models.Run.OPEN).exists():
            held.state, held.ended_at = models.Sweep.State.ENDED, timezone.now()
        held.save()
    notify.poke_runs()


def advance_all() -> None:
    """Every sweep that is going."""
    for sweep in models.Sweep.objects.filter(state=models.Sweep.State.GOING):
        advance(sweep)


def _replace_lost(sweep: models.Sweep) -> None:
    lost = sweep.runs.filter(status=models.Run.Status.LOST)
    for cell, times in Counter(lost.values_list("agent", "version", "scenario")).items():
        agent, version, name = cell
        runs = sweep.runs.filter(agent=agent, version=version, scenario=name)
        have = runs.exclude(status=models.Run.Status.LOST).count()
        wanted = _wanted(sweep, cell)
        if have < wanted and times <= LOST_RETRIES * wanted:
            add_runs(sweep, agent, version, name, wanted - have)


def _wanted(sweep: models.Sweep, cell: tuple[str, str, str]) -> int:
    """How many runs of a cell shall end; a bisection asks anew by itself."""
    if sweep.search:
        return 0
    missing = {(agent, version, name): n for agent, version, name, n in _missing(sweep)}
    return int(missing.get(cell, sweep.plan.get("repeat", 1)))


def _missing(sweep: models.Sweep) -> list[tuple[str, str, str, int]]:
    """The planned cells of a sweep that runs only what is missing, and how many each lacked."""
    return [tuple(row) for row in sweep.plan.get("missing", [])]


def pause(sweep: models.Sweep) -> None:
    """Send no more of its runs; those that run go on."""
    _change(sweep, [models.Sweep.State.GOING], models.Sweep.State.PAUSED)


def interrupt(sweep: models.Sweep) -> None:
    """Pause it and end what runs now; that is run again when the sweep goes on."""
    pause(sweep)
    for run in sweep.runs.filter(status=models.Run.Status.RUNNING):
        add_runs(sweep, run.agent, run.version, run.scenario)
        models.Run.objects.filter(pk=run.pk).update(sweep=None)
        start.cancel(run)


def resume(sweep: models.Sweep) -> None:
    """Go on with a paused sweep, or with a bisection that failures of ours ended."""
    if sweep.search:
        bisections.retry(sweep)
    _change(sweep, [models.Sweep.State.PAUSED], models.Sweep.State.GOING)
    feed()


def cancel(sweep: models.Sweep) -> None:
    """End it: queued runs are cancelled, running ones asked to end."""
    going = [models.Sweep.State.GOING, models.Sweep.State.PAUSED]
    _change(sweep, going, models.Sweep.State.CANCELLED)
    for run in sweep.runs.filter(status__in=models.Run.OPEN):
        start.cancel(run)


def _change(sweep: models.Sweep, before: Sequence[str], after: str) -> None:
    changed = models.Sweep.objects.filter(pk=sweep.pk, state__in=before).update(state=after)
    if changed:
        sweep.refresh_from_db()
        notify.poke_runs()


def progress(sweep: models.Sweep) -> dict[str, Any]:
    """{total, ended, cancelled, running, queued, left_seconds}: estimated from the runs so far."""
    counts = Counter(sweep.runs.values_list("status", flat=True))
    done = sweep.runs.filter(ended_at__isnull=False, started_at__isnull=False)
    times = done.values_list("started_at", "ended_at")[:500]
    spent = [(b - a).total_seconds() for a, b in times if a and b]
    waiting = counts["queued"] + counts["running"]
    room = sum(worker.concurrency for worker in start.workers()) or settings.CONCURRENCY
    left = sum(spent) / len(spent) * waiting / max(1, room) if spent else None
    return {
        "total": sum(counts.values()),
        "ended": sum(counts.values()) - waiting - counts["cancelled"],
        "cancelled": counts["cancelled"],
        "running": counts["running"],
        "queued": counts["queued"],
        "left_seconds": None if left is None else round(left, 1),
    }


def document(sweep: models.Sweep) -> dict[str, Any]:
    """The JSON of ``sweep --json`` (of a bisection: of ``bisect --json``)."""
    if sweep.search:
        return {**sweep.result, "permalink": sweep.permalink, "state": sweep.state}
    return {
        "permalink": sweep.permalink,
        "state": sweep.state,
        **progress(sweep),
        "cells": cells(sweep),
        "unanswered": unanswered(sweep),
        "left_out": sweep.plan.get("left_out", []),
    }


def unanswered(sweep: models.Sweep) -> list[dict[str, Any]]:
    """Cells of which not every run ended: {agent, version, scenario, ended, words}."""
    open_or_done = (*models.Run.OPEN, models.Run.Status.ENDED)
    counts: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    errors: dict[tuple[str, str, str], str] = {}
    names = ("agent", "version", "scenario", "status", "error")
    for agent, version, name, status, error in sweep.runs.order_by("pk").values_list(*names):
        counts[agent, version, name][status] += 1
        if status not in open_or_done:
            errors[agent, version, name] = str(error.get("what") or f"it was {status}")
    found = []
    for (agent, version, name), seen in counts.items():
        replaced = seen.total() - seen["lost"] >= _wanted(sweep, (agent, version, name))
        short = seen["errored"] + seen["cancelled"] + (0 if replaced else seen["lost"])
        if short:
            said = f"{agent}@{version} {name}: {short} of {seen.total()} runs gave no answer: "
            said += errors[agent, version, name]
            row = {"agent": agent, "version": version, "scenario": name}
            found.append({**row, "ended": seen["ended"], "words": said})
    return found


def cells(sweep: models.Sweep) -> list[dict[str, Any]]:
    """What its runs add up to, a row a cell, with the retries of the newest of them."""
    runs = _runs_of(sweep)
    found = grid.cells(runs)
    newest = dict(
        runs.filter(permalink__in=[cell["runs"][0] for cell in found]).values_list(
            "permalink", "summary__retry"
        )
    )
    return [{**cell, "retry": newest.get(cell["runs"][0]) or {}} for cell in found]


def _runs_of(sweep: models.Sweep) -> QuerySet[models.Run]:
    """Its runs; where it ran only what was missing, also those that were there."""
    planned = Q(sweep=sweep)
    for agent, version, name, _ in _missing(sweep):
        planned |= Q(agent=agent, version=version, scenario=name)
    return models.Run.objects.filter(planned)
