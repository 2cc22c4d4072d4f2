"""The stored matrix: a cell is made anew whenever one of its runs ends, and read as it is."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

from django.db.models import QuerySet, TextField
from django.db.models.functions import Cast

from runs import models
from runs.core import matrix
from runs.core.look import valid
from runs.versions import key

ENDED = (models.Run.Status.ENDED,)


def facts_of(run: models.Run) -> dict[str, Any]:
    """What a cell needs of a judged run; stored with it as `facts`."""
    summary = run.summary
    retry = summary.get("retry", {})
    measured, slept = retry.get("measured", {}), retry.get("reported", {}).get("sleep")
    gaps = measured.get("gaps") or []
    child: dict[str, Any] = next(
        (row for row in summary.get("agents", []) if row.get("parent")), {}
    )
    terminal, told = child.get("terminal") or {}, child.get("told") or {}
    tried = measured.get("caller") is not None
    return {
        "attempts": measured.get("retries", 0) + 1 if tried else None,
        "gaps": [round(min(gaps), 3), round(max(gaps), 3)] if gaps else [],
        "slept": slept if isinstance(slept, int | float) else None,
        "told": str(told.get("status") or "none") if child else "",
        "stdout": str(terminal.get("stdout", "none")),
        "session": str(terminal.get("session", "none")),
    }


def rows_of(runs: QuerySet[models.Run]) -> Iterable[tuple[tuple[str, str, str], matrix.RunFacts]]:
    """Ended runs as (agent, version, scenario) and facts, newest first."""
    names = (
        *("permalink", "kind", "status", "agent", "version", "reported_version", "scenario"),
        *("outcome", "diagnosis", "broken", "exit_code", "facts"),
    )
    for row in runs.filter(status__in=ENDED).order_by("-pk").values(*names).iterator():
        facts = row["facts"] or {}
        key = (row["agent"], row["version"], row["scenario"])
        yield (
            key,
            matrix.RunFacts(
                permalink=row["permalink"],
                imported=row["kind"] == models.Run.Kind.IMPORT,
                valid=valid(row) and row["diagnosis"] != "environment",
                outcome=row["outcome"],
                diagnosis=row["diagnosis"],
                broken=row["broken"].split(),
                attempts=facts.get("attempts"),
                gaps=facts.get("gaps", []),
                slept=facts.get("slept"),
                told=facts.get("told", ""),
                stdout=facts.get("stdout", "none"),
                session=facts.get("session", "none"),
                exit_code=row["exit_code"],
            ),
        )


def cells(runs: QuerySet[models.Run]) -> list[dict[str, Any]]:
    """The cells of these runs, in order of agent, version and scenario."""
    found: dict[tuple[str, str, str], list[matrix.RunFacts]] = defaultdict(list)
    for place, row in rows_of(runs):
        found[place].append(row)
    ordered = sorted(found, key=lambda place: (place[0], key(place[1]), place[2]))
    return [
        {
            "agent": agent,
            "version": version,
            "scenario": scenario,
            **matrix.cell(found[agent, version, scenario]),
        }
        for agent, version, scenario in ordered
    ]


def refresh(agent: str, version: str, scenario: str) -> None:
    """Make one cell anew from all its runs; it goes when it has none."""
    runs = models.Run.objects.filter(agent=agent, version=version, scenario=scenario)
    rows = [row for _, row in rows_of(runs)]
    place: dict[str, Any] = {"agent": agent, "version": version, "scenario": scenario}
    if rows:
        models.Cell.objects.update_or_create(**place, defaults={"data": matrix.cell(rows)})
    else:
        models.Cell.objects.filter(**place).delete()


def stored(
    agents: Iterable[str] = (), versions: Iterable[str] = (), scenarios: Iterable[str] = ()
) -> dict[tuple[str, str, str], matrix.Cell]:
    """The stored cells, narrowed to the names that are given. They are shared: do not change one.

    Thousands are read for one page, so their JSON is taken as text and parsed once a process.
    """
    chosen = models.Cell.objects.all()
    for name, values in (("agent", agents), ("version", versions), ("scenario", scenarios)):
        if values := list(values):
            chosen = chosen.filter(**{f"{name}__in": values})
    texts = chosen.annotate(text=Cast("data", TextField()))
    rows = texts.values_list("agent", "version", "scenario", "text")
    return {(agent, version, name): _parsed(text) for agent, version, name, text in rows}


@lru_cache(maxsize=20_000)
def _parsed(text: str) -> matrix.Cell:
    """A stored cell; read so often and changed so seldom that each is parsed once."""
    cell: matrix.Cell = matrix.restored(json.loads(text))
    return cell
