"""From a stored history to what the run's row says: findings, outcome, diagnosis, summary.

Everything here is made again by ``rejudge`` from the stored events alone.
"""

from __future__ import annotations

import logging
from collections.abc import Collection
from datetime import datetime
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils import timezone

from runs import catalogue, grid, models, notify, pictures, report, store
from runs.core import judge, outcome
from runs.core.events import Kind
from runs.core.history import History
from runs.core.law import Verdict
from runs.driver import Binary
from runs.versions import plain

log = logging.getLogger(__name__)
NOT_JUDGED = "not-judged"
"""The kind of our trouble with a run whose events are all right: a `rejudge` takes it back."""


def close(run: models.Run, status: str, error: dict[str, Any]) -> None:
    """The run is over: judge it, store the verdict, and only then say that it ended."""
    try:
        judged = verdict_of(run)
    except Exception as trouble:
        log.exception("Run %s could not be judged", run.permalink)
        judged = {}
        error = error or {
            "what": f"It could not be judged: {type(trouble).__name__}.",
            "do": "Its events are stored. Report this, then `rejudge` it with a fixed version.",
            "kind": NOT_JUDGED,
        }
        status = models.Run.Status.ERRORED
    _store(run, judged)
    models.Run.objects.filter(pk=run.pk, status__in=models.Run.OPEN).update(
        status=status, error=error, started_at=run.started_at, ended_at=_ended(run), phase=""
    )
    run.refresh_from_db()
    grid.refresh(run.agent, run.version, run.scenario)
    store.pack(run)
    pictures.prepare(run)
    notify.poke_run(run.pk)
    notify.poke_runs(run.pk)


def _ended(run: models.Run) -> datetime:
    """Now; of an import when its files end, where they say so."""
    return run.ended_at if run.kind == models.Run.Kind.IMPORT and run.ended_at else timezone.now()


def rejudge(run: models.Run) -> None:
    """Judge a stored run again, with today's laws; people's opinions stay."""
    _store(run, verdict_of(run))
    models.Run.objects.filter(pk=run.pk, error__kind=NOT_JUDGED).update(
        status=models.Run.Status.ENDED, error={}
    )
    run.refresh_from_db()
    grid.refresh(run.agent, run.version, run.scenario)
    pictures.prepare(run)
    notify.poke_run(run.pk)
    notify.poke_runs(run.pk)


def judge_quietly(run: models.Run) -> None:
    """Judge what there is of a lost run; a failure is logged, the run stays lost."""
    try:
        rejudge(run)
    except Exception:
        log.exception("Lost run %s could not be judged", run.permalink)


def verdict_of(run: models.Run) -> dict[str, Any]:
    """Everything that is derived from the history, as fields of the row and `findings`.

    A lost run has no outcome: it was ended by its worker's death, not by the agent.
    """
    history = store.history(run)
    judged = judge.judge(history, store.thresholds(run))
    fields: dict[str, Any] = {
        "diagnosis": judged.diagnosis,
        "summary": report.summary(run, history),
        "broken": _broken(judged),
        "findings": [judge.row(finding) for finding in judged.findings],
    }
    owner = fields["summary"]["owner"]
    if owner and not owner["kept"] and judged.diagnosis in ("healthy", "failed_and_reported"):
        fields["diagnosis"] = "unknown"  # No law says it, and its play's rule was broken.
    if fields["diagnosis"] == "healthy" and unanswered(run.snapshot.get("laws") or (), judged):
        fields["diagnosis"] = "unknown"
    executed = run.kind == models.Run.Kind.RUN and run.status != models.Run.Status.LOST
    if executed or _restored(run):
        facts = facts_of(run, history)
        fields["outcome"] = outcome.outcome(facts)
        public = catalogue.driver(run.agent).public
        fields["public_outcome"] = outcome.public_outcome(facts) if public else ""
        if outcome.is_environment(fields["outcome"]) and not stands(fields["outcome"], judged):
            fields["diagnosis"] = "environment"
        fields["exit_code"] = facts.exit_code
        fields["reported_version"] = facts.reported_version
        fields["runtime"] = report.runtime(history)
    return fields


UNASKED = frozenset({"early_exit_children_lost", "dead_spawn"})
"""Failures by which an agent keeps its sub-agent from ever asking."""


def stands(invalid: str, judged: judge.Judgement) -> bool:
    """Whether a diagnosis stands although the outcome is invalid: it says why it is.

    A fault cannot reach a sub-agent that its parent left behind before its first request;
    the run proves nothing about the fault, and the agent's failure all the same.
    """
    found = {judged.diagnosis, *(one.label for one in judged.broken)}
    left_behind = invalid == "invalid-fault-not-delivered" and bool(found & UNASKED)
    return judged.diagnosis == "log_damaged" or left_behind


def unanswered(asked: Collection[str], judged: judge.Judgement) -> bool:
    """Whether a scenario asks after laws of which not one could be judged: that nothing else is
    broken does not answer it (slots of an agent that has no limit, a question nobody asked)."""
    answered = {one.law for one in judged.findings if one.verdict is not Verdict.UNKNOWN}
    return bool(asked) and answered.isdisjoint(asked)


def _restored(run: models.Run) -> bool:
    """Whether it is an archived run that was executed: its outcome is made again as well."""
    return bool(run.summary.get("intake", {}).get("archive", {}).get("outcome"))


def _broken(judged: judge.Judgement) -> str:
    laws = dict.fromkeys(finding.law for finding in judged.broken)
    return f" {' '.join(laws)} " if laws else ""


def facts_of(run: models.Run, history: History) -> outcome.Facts:
    """What the outcome's table asks, from the history and the run's driver."""
    driver = catalogue.driver(run.agent)
    aimed = bool(run.snapshot.get("faults"))
    return outcome.facts(
        history,
        requested_version=plain(run.version),
        runtime=driver.runtime(history, _binary(run)),
        allowed_tools=driver.tools_allowed(run.options),
        executed_tools=driver.executed_tools(history),
        delivered=not aimed or _delivered(history),
    )


def _binary(run: models.Run) -> Binary:
    return Binary(
        agent=run.agent, version=run.version, path=Path(), folder=Path(), sha256=run.sha256
    )


def _delivered(history: History) -> bool:
    """Whether every fault that was aimed acted at least once."""
    for event in reversed(history.of(Kind.PHASE)):
        if event.get("phase") == "provider-stopped":
            return not event.get("detail", {}).get("undelivered")
    return bool(history.of(Kind.FAULT_FIRED))


def _store(run: models.Run, judged: dict[str, Any]) -> None:
    findings = judged.pop("findings", [])
    with transaction.atomic():
        models.Finding.objects.filter(run=run).delete()
        models.Finding.objects.bulk_create(
            models.Finding(run=run, position=place, **row) for place, row in enumerate(findings)
        )
        if judged:
            run.summary = judged["summary"]
            judged["facts"] = grid.facts_of(run)
            models.Run.objects.filter(pk=run.pk).update(**judged)
