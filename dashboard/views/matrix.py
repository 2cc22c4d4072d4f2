"""`/matrix/`: versions down, scenarios across; one cell; copies of the table; a badge."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse, JsonResponse, QueryDict
from django.shortcuts import render
from django.utils.safestring import SafeString
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET

from dashboard import gridcopies, gridpaint, grids
from runs import catalogue, grid, models, saved
from runs.core.matrix import Cell, Change
from runs.text import markdown
from runs.words import plural

SHOWN_CHANGES = 4
"""Changes of one border that are said at once; the rest unfolds."""
LISTED_CHANGES = 8


@never_cache
@require_GET
def matrix(request: HttpRequest) -> HttpResponse:
    """The page."""
    view = grids.grid_of(grids.Asked.read(request.GET))
    return render(request, "matrix/page.html", {"section": "matrix", **context(view)})


def context(view: grids.Grid, *, pick: bool = True) -> dict[str, Any]:
    """What matrix/_table.html and the tools around it need."""
    asked = view.asked
    full = gridpaint.is_full(len(view.scenarios), view.count)
    lacking = Counter(agent for agent, _, _ in view.missing)
    runs = grids.missing_runs(view)
    share = runs / max(1, len(view.missing))
    seconds = grids.seconds_for({agent: round(n * share) for agent, n in lacking.items()})
    return {
        "view": view,
        "asked": asked,
        "full": full,
        "blocks": [_block(view, block, full, pick and full) for block in view.blocks],
        "only_choices": [(value, word, asked.address(only=value)) for value, word in CHOICES],
        "newest": asked.address(order="" if asked.newest_first else "newest"),
        "query": asked.address(),
        "missing_runs": runs,
        "missing_about": grids.about(seconds) if runs else "",
        "missing_agents": _binaries(view),
        "agent_names": list(catalogue.drivers()),
        "scenario_names": list(saved.known()),
        "copy_forms": (("md", "Markdown"), ("csv", "CSV"), ("json", "JSON")),
    }


CHOICES = tuple(grids.ONLY.items())


def _block(view: grids.Grid, block: grids.Block, full: bool, pick: bool) -> dict[str, Any]:
    """The rows of one agent; after a row the border to the next with what changed."""
    borders = _borders(view, block)
    rows = []
    for place, version in enumerate(block.versions):
        places = [(block.agent, version, scenario) for scenario in view.scenarios]
        painted = [gridpaint.cell_html(at, view.cells.get(at), full, pick) for at in places]
        cells = SafeString("".join(painted))
        note = block.notes.get(version, "")
        rows.append(
            {"version": version, "note": note, "cells": cells, "borders": borders[place + 1]}
        )
    return {"agent": block.agent, "rows": rows}


def _borders(view: grids.Grid, block: grids.Block) -> dict[int, list[dict[str, Any]]]:
    """By the row below: the changes between it and its neighbour in that scenario."""
    index = {version: place for place, version in enumerate(block.versions)}
    pairs: dict[tuple[str, str], list[Change]] = defaultdict(list)
    for change in view.changes:
        if change["agent"] == block.agent:
            pairs[change["before"], change["after"]].append(change)
    found: dict[int, list[dict[str, Any]]] = defaultdict(list)
    column = {scenario: place for place, scenario in enumerate(view.scenarios)}
    for (before, after), unsorted in pairs.items():
        changes = sorted(unsorted, key=lambda one: column.get(one["scenario"], 0))
        if before in index and after in index:
            listed = LISTED_CHANGES if len(index) > 3 else len(changes)
            found[max(index[before], index[after])].append(
                {
                    "before": before,
                    "after": after,
                    "changes": changes[:listed],
                    "count": len(changes),
                    "more": max(0, len(changes) - listed),
                    "drift": _drift(block.agent, before, after),
                    "fold": len(changes) > SHOWN_CHANGES,
                    "narrowed": view.asked.address(
                        agent=block.agent, versions=f"{before},{after}", only=""
                    ),
                }
            )
    return found


def _drift(agent: str, before: str, after: str) -> str:
    return "/drift/?" + urlencode({"agent": agent, "before": before, "after": after})


def _binaries(view: grids.Grid) -> str:
    """What lacks runs, as the sweep form takes it: ``copilot@1.0.60,1.0.73,codex@…``."""
    found: dict[str, list[str]] = {}
    for agent, version, _ in view.missing:
        found.setdefault(agent, []).append(version)
    return ",".join(f"{a}@{','.join(dict.fromkeys(vs))}" for a, vs in found.items())


@never_cache
@require_GET
def copy(request: HttpRequest, form: str) -> HttpResponse:
    """The view as `md`, `csv` or `json`."""
    view = grids.grid_of(grids.Asked.read(request.GET))
    if form == "json":
        return JsonResponse(gridcopies.document(view))
    text = gridcopies.as_csv(view) if form == "csv" else gridcopies.as_markdown(view)
    kind = "csv" if form == "csv" else "plain"
    answer = HttpResponse(text, content_type=f"text/{kind}; charset=utf-8")
    answer["X-Content-Type-Options"] = "nosniff"
    answer["Content-Disposition"] = f'inline; filename="matrix.{form}"'
    return answer


def _place(query: QueryDict) -> tuple[str, str, str]:
    names = ("agent", "version", "scenario")
    agent, version, scenario = (query.get(name, "")[:80].replace("\x00", "") for name in names)
    return agent, version, scenario


def stored_cell(place: tuple[str, str, str]) -> Cell | None:
    """One cell as it is stored."""
    agent, version, scenario = place
    return grid.stored([agent], [version], [scenario]).get(place) if agent else None


@never_cache
@require_GET
def cell(request: HttpRequest) -> HttpResponse:
    """One cell: what its runs add up to, and its last runs; `part` gives the fragment alone."""
    place = _place(request.GET)
    found = stored_cell(place)
    part = "part" in request.GET
    runs = models.Run.objects.filter(permalink__in=found["runs"] if found else []).order_by("-pk")
    badge = request.build_absolute_uri(f"/matrix/badge.svg?{gridpaint.query(*place)}")
    name = " ".join(filter(None, place))
    agent, version, scenario = place
    filters = [f"agent:{agent}", f"version:{version}", f"scenario:{scenario}" if scenario else ""]
    known = scenario in saved.known() and agent in catalogue.drivers()
    return render(
        request,
        "matrix/_cell.html" if part else "matrix/cell.html",
        {
            "section": "matrix",
            "place": place,
            "key": "|".join(place),
            "name": name,
            "cell": found,
            "tone": gridpaint.tone(found) if found else "wait",
            "word": gridpaint.word(found) if found else "not run",
            "count": gridpaint.count(found) if found else "",
            "figures": _figures(found) if found else [],
            "counters": gridpaint.counters(found) if found else [],
            "runs": list(runs[: 5 if part else 12]),
            "all_runs": " ".join(filter(None, filters)),
            "cell_query": gridpaint.query(*place),
            "badge": f"![{markdown(name)}]({badge})",
            "can_run": known,
        },
        status=200 if found else 404,
    )


def _figures(found: Cell) -> list[str]:
    apart = found["n"] - found["valid"]
    lines = [gridpaint.attempts(found), gridpaint.gaps(found), gridpaint.slept(found)]
    lines += [f"{plural(apart, 'run')} without a verdict, kept apart" if apart else ""]
    lines += [f"{plural(found['imported'], 'import')} of {found['n']}" if found["imported"] else ""]
    return [line for line in lines if line]


@never_cache
@require_GET
def badge(request: HttpRequest) -> HttpResponse:
    """The cell as a small picture for an issue."""
    place = _place(request.GET)
    found = stored_cell(place)
    svg = gridpaint.badge(" ".join(filter(None, place)) or "lifeline", found)
    answer = HttpResponse(svg, content_type="image/svg+xml; charset=utf-8")
    answer["Content-Security-Policy"] = "default-src 'none'; sandbox"
    answer["X-Content-Type-Options"] = "nosniff"
    return answer
