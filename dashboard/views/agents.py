"""`/agents/` and `/agents/<agent>/`: what is known, installed, in use, and what can be seen."""

from __future__ import annotations

import shutil
from collections import Counter
from datetime import UTC, datetime
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_POST

from dashboard import trouble
from runs import binaries, catalogue, descriptions, installing, shelf
from runs.driver import Driver
from runs.errors import HarnessError, UnknownName
from runs.models import Cell, Installation, Run
from runs.versions import ordered

NEWEST = 30
"""Versions that the page of an agent lists unfolded, and what is installed of the older ones."""
LOG_SHOWN = 6000


@never_cache
@require_GET
def agents(request: HttpRequest) -> HttpResponse:
    """Every agent in a few lines, and the disk."""
    runs = Counter(Run.objects.values_list("agent", flat=True))
    entries = []
    for name, driver in catalogue.drivers().items():
        rows = _versions(driver)
        here = [row for row in rows if row["here"]]
        entries.append(
            {
                "driver": driver,
                "known": len(rows),
                "newest": next((row for row in rows if not row["absent"]), None),
                "installed": len(here),
                "size": sum(row["size"] or 0 for row in here),
                "runs": runs[name],
            }
        )
    context = {"section": "agents", "entries": entries, "disk": _disk(), "jobs": _jobs("")}
    return render(request, "agents/page.html", context)


def _driver(agent: str) -> Driver:
    if agent not in catalogue.drivers():
        raise Http404
    return catalogue.driver(agent)


@never_cache
@require_GET
def agent(request: HttpRequest, agent: str) -> HttpResponse:
    """One agent: its versions, its options, what a black box can see of it."""
    context = _context(request, _driver(agent))
    context["drifts"] = len(descriptions.versions(agent)) > 1
    return render(request, "agents/agent.html", context)


@never_cache
@require_GET
def parts(request: HttpRequest, agent: str) -> HttpResponse:
    """What changes while something is installed."""
    return render(request, "agents/parts.html", _context(request, _driver(agent)))


def _context(request: HttpRequest, driver: Driver) -> dict[str, Any]:
    rows = _versions(driver)
    older = [row for row in rows[NEWEST:] if not row["here"]]
    jobs = _jobs(driver.name)
    named = request.GET.get("version", "")
    not_here = catalogue.not_applicable(driver.name, catalogue.scenarios().values())
    if driver.only_named:
        not_here = {name: why for name, why in not_here.items() if why != driver.only_named}
        not_here["every scenario that does not name it"] = driver.only_named
    for (key, value), reasons in driver.not_applicable_with.items():
        not_here |= {f"{name} with {key}={value}": why for name, why in reasons.items()}
    for first, reasons in driver.not_applicable_before.items():
        not_here |= {f"{name} before {first}": why for name, why in reasons.items()}
    return {
        "section": "agents",
        "driver": driver,
        "builtin": driver.package.registry == "builtin",
        "rows": [row for row in rows if row not in older],
        "older": older,
        "here": [row for row in rows if row["here"]],
        "jobs": jobs,
        "open": any(job.state in installing.OPEN for job in jobs),
        "disk": _disk(),
        "listed": _listed(driver),
        "laws": [
            (law, driver.observes.get(law.id, ""), driver.not_applicable.get(law.id, ""))
            for law in catalogue.laws().values()
        ],
        "not_here": [(n, why) for n, why in sorted(not_here.items()) if n[:1] != "L"],
        "log_of": next((job for job in jobs if job.version == named), None),
    }


def _versions(driver: Driver) -> list[dict[str, Any]]:
    """Every known version, newest first: published, here, how big, in use, how often run."""
    try:
        known = binaries.versions(driver.name, refresh=False)
        here = {one.version: one for one in binaries.installed(driver.name)}
    except (HarnessError, OSError):
        known, here = [], {}
    dates = {item.version: item.date for item in known}
    absent = {item.version for item in known if not item.here} - set(here)
    cells = Counter(Cell.objects.filter(agent=driver.name).values_list("version", flat=True))
    rows = []
    for version in reversed(ordered({*dates, *here})):
        one = here.get(version)
        rows.append(
            {
                "version": version,
                "date": dates.get(version, "")[:10],
                "here": one,
                "size": one.size if one else None,
                "used": _moment(max(one.used_at, one.installed_at)) if one else None,
                "absent": version in absent,
                "cells": cells[version],
                "starts": driver.can_start(version) and (one is None or one.starts),
            }
        )
    return rows


def _moment(epoch: float) -> datetime | None:
    return datetime.fromtimestamp(epoch, UTC) if epoch else None


def _disk() -> dict[str, Any]:
    """What installed binaries take of their budget, and what the disk has left."""
    every = [one for one in binaries.installed() if not one.registered]
    used, limit = sum(one.size for one in every), binaries.budget()
    place = next(folder for folder in (shelf.root(), *shelf.root().parents) if folder.is_dir())
    return {
        "used": used,
        "limit": limit,
        "count": len(every),
        "share": min(100, round(100 * used / limit)) if limit else 0,
        "free": shutil.disk_usage(place).free,
    }


def _jobs(agent: str) -> list[Installation]:
    """Jobs that are going or that ended a short while ago, newest first."""
    found = installing.jobs(agent)
    for job in found:
        job.log = job.log[-LOG_SHOWN:]
    return found[:8]


def _listed(driver: Driver) -> datetime | None:
    """When the list of versions was last asked for."""
    kept = shelf.read_json(shelf.root() / driver.name / "versions.json")
    return _moment(float(kept.get("at", 0)))


@require_POST
def change(request: HttpRequest, agent: str) -> HttpResponse:
    """Install, remove, pin, unpin a version, or ask for the list again."""
    driver = _driver(agent)
    version, action = request.POST.get("version", "").strip(), request.POST.get("do", "")
    try:
        if action == "install":
            installing.request(agent, version)
        elif action == "remove":
            binaries.remove(agent, version)
            Installation.objects.filter(agent=agent, version=version).delete()
        elif action in ("pin", "unpin"):
            binaries.pin(agent, version, action == "pin")
        elif action == "refresh":
            binaries.versions(agent, refresh=True)
        else:
            raise UnknownName(f"{action!r} is nothing that can be done.")
    except HarnessError as error:
        return trouble.page(request, 409, error.what, error.do)
    return redirect("agent", driver.name)
