"""`/compare/?runs=a,b[,c]` (or `?cells=agent|version|scenario`): differences, then one clock."""

from __future__ import annotations

import itertools
from typing import Any
from urllib.parse import urlencode

from django.db.models import Count
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import gridpaint, pictures
from dashboard.views.matrix import stored_cell
from runs import facts, report
from runs.core import compare as core
from runs.core.matrix import change, most, spoken
from runs.models import Event, Run
from runs.text import visible_deep

MOST = 4
"""Runs beside each other: more fit on no screen."""
LETTERS = "ABCD"
SENTENCES = 12
"""Differences that are said before the table of all."""
CHOICE = 30
"""Newest runs that the empty page offers, besides those that are named."""
UNTOLD = ("seen.again", "process.sample", "phase")
"""Kinds of events that are ours or noise: they are not compared."""


@never_cache
@require_GET
def compare(request: HttpRequest) -> HttpResponse:
    """The page."""
    names, cells = _named(request.GET), _cells(request.GET)
    runs = _runs(names, cells[:MOST])
    context: dict[str, Any] = {
        "section": "compare",
        "runs": runs,
        "cells": cells[:MOST],
        "named": len(names) + len(cells),
        "most": MOST,
        "gone": min(len(names) + len(cells), MOST) - len(runs),
    }
    if len(runs) < 2:
        newest = Run.objects.filter(status="ended").exclude(pk__in=[run.pk for run in runs])
        choice = [*runs, *newest.order_by("-pk")[:CHOICE]]
        context |= {"choice": choice, "chosen": {run.permalink for run in runs}}
        return render(request, "compare/choose.html", context)
    return render(request, "compare/page.html", {**context, **_context(runs, cells[:MOST])})


@never_cache
@require_GET
def timeline(request: HttpRequest) -> HttpResponse:
    """The runs' timelines as one, aligned at the spawn."""
    runs = _runs(_named(request.GET), [])
    if len(runs) < 2:
        raise Http404
    spawns = [core.spawn_of(report.document(run)) for run in runs]
    lines = [pictures.timeline_of(run.pk) for run in runs]
    return JsonResponse(core.aligned(lines, LETTERS[: len(runs)], spawns))


def _named(query: QueryDict) -> list[str]:
    """The permalinks of the address, each once."""
    names = [name for value in query.getlist("runs") for name in value.split(",")]
    return list(dict.fromkeys(name for name in names if name.isalnum()))


def _cells(query: QueryDict) -> list[tuple[str, str, str]]:
    texts = [text for value in query.getlist("cells") for text in value.split(",")]
    places = [tuple(part[:80] for part in text.split("|")) for text in texts]
    return list(dict.fromkeys((p[0], p[1], p[2]) for p in places if len(p) == 3))


def _runs(names: list[str], cells: list[tuple[str, str, str]]) -> list[Run]:
    """The first named runs in their order; of each cell the newest run of its usual diagnosis."""
    names = names[:MOST]
    known = {run.permalink: run for run in Run.objects.filter(permalink__in=names)}
    found = [known[name] for name in names if name in known]
    return (found + [run for place in cells if (run := _typical(place))])[:MOST]


def _typical(place: tuple[str, str, str]) -> Run | None:
    agent, version, scenario = place
    runs = Run.objects.filter(agent=agent, version=version, scenario=scenario, status="ended")
    cell = stored_cell(place)
    usual = most(spoken(cell)) if cell else ""
    return runs.filter(diagnosis=usual).order_by("-pk").first() or runs.order_by("-pk").first()


def _context(runs: list[Run], cells: list[tuple[str, str, str]]) -> dict[str, Any]:
    documents = [visible_deep(_document(run)) for run in runs]
    names = list(LETTERS[: len(runs)])
    found = core.differences(documents, names)
    groups = [
        {"name": GROUPS[group], "rows": list(rows), "key": group}
        for group, rows in itertools.groupby(found, key=lambda one: one.group)
    ]
    weighty = [one.sentence for one in found if one.group not in ("gaps", "events")]
    return {
        "columns": [
            {"letter": letter, "run": run, "truth": facts.gather(run).truth}
            for letter, run in zip(names, runs, strict=True)
        ],
        "groups": groups,
        "count": len(found),
        "sentences": weighty[:SENTENCES] or [one.sentence for one in found[:SENTENCES]],
        "same": [what for what in ("outcome", "diagnosis") if _same(runs, what)],
        "address": "runs=" + ",".join(run.permalink for run in runs),
        "drift": _drift(runs),
        "spawned": all(core.spawn_of(document) is not None for document in documents),
        "cell_rows": _cell_rows(cells),
        "letters": {letter: run.permalink for letter, run in zip(names, runs, strict=True)},
    }


GROUPS = {
    "outcome": "Outcome",
    "notices": "What the parent was told",
    "terminals": "Terminals",
    "findings": "Findings",
    "attempts": "Attempts",
    "gaps": "Gaps and waiting",
    "events": "Events by kind",
}


def _document(run: Run) -> dict[str, Any]:
    counts = Event.objects.filter(run=run).exclude(kind__in=UNTOLD).values("kind")
    rows = counts.annotate(n=Count("pk")).order_by("kind").values_list("kind", "n")
    return {**report.document(run), "event_kinds": dict(rows)}


def _same(runs: list[Run], what: str) -> bool:
    return len({getattr(run, what) for run in runs}) == 1


def _drift(runs: list[Run]) -> str:
    """The address of the schema drift, from the first version of one agent to its last."""
    agents = {run.agent for run in runs}
    versions = list(dict.fromkeys(run.version for run in runs))
    if len(agents) != 1 or len(versions) < 2:
        return ""
    query = {"agent": agents.pop(), "before": versions[0], "after": versions[-1]}
    return f"/drift/?{urlencode(query)}"


def _cell_rows(places: list[tuple[str, str, str]]) -> dict[str, Any]:
    """What two chosen cells say, and the change between them in words."""
    cells = [(place, stored_cell(place)) for place in places]
    rows = [
        {"name": " ".join(place), "said": gridpaint.said(cell), "query": gridpaint.query(*place),
         "tone": gridpaint.tone(cell)}
        for place, cell in cells if cell
    ]  # fmt: skip
    two = [cell for _, cell in cells if cell]
    return {"rows": rows, "change": change(two[0], two[1]) if len(two) == 2 else ""}
