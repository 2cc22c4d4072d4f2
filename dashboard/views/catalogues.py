"""Faults and laws: pages made from the registries, each entry with an example to run."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_GET, require_POST

from dashboard import trouble
from dashboard.sketch import THRESHOLDS, stages
from fakes.settings import describe
from runs import catalogue, examples
from runs.core.law import Thresholds
from runs.errors import HarnessError, UnknownName


def _page(
    request: HttpRequest, section: str, title: str, entries: Any, **more: Any
) -> HttpResponse:
    context = {"section": section, "title": title, "entries": entries, **more}
    return render(request, f"catalogue/{section}.html", context)


@require_GET
def faults(request: HttpRequest) -> HttpResponse:
    """Every fault: what a client sees, its settings, the scenarios that use it."""
    used: dict[str, list[str]] = {}
    for scenario in catalogue.scenarios().values():
        for name in dict.fromkeys(item["fault"] for item in scenario.faults):
            used.setdefault(name, []).append(scenario.name)
    entries = [
        {
            "fault": fault,
            "settings": describe(fault),
            "scenarios": used.get(name, []),
            "stages": stages(fault.picture),
            "example": examples.of_fault(name),
        }
        for name, fault in catalogue.faults().items()
    ]
    return _page(request, "faults", "Faults", entries)


@require_GET
def laws(request: HttpRequest) -> HttpResponse:
    """Every law: sentence, why, how it is detected, what it needs, its parameters."""
    defaults = Thresholds()
    entries = [
        {
            "law": law,
            "parameters": [
                (name, getattr(defaults, name), *THRESHOLDS.get(name, ("", "")))
                for name in law.parameters
            ],
            "examples": examples.of_law(law.id),
        }
        for law in catalogue.laws().values()
    ]
    return _page(request, "laws", "Laws", entries)


@require_POST
def law_example(request: HttpRequest, law: str) -> HttpResponse:
    """Run the reference agent so that the law is `which`: broken or holds."""
    return _started(request, lambda: examples.law(law, request.POST.get("which", "")))


@require_POST
def fault_example(request: HttpRequest, fault: str) -> HttpResponse:
    """Run the reference agent through a scenario of this fault."""
    return _started(request, lambda: examples.fault(fault))


def _started(request: HttpRequest, find: Callable[[], examples.Example]) -> HttpResponse:
    try:
        return redirect("run", find().start().permalink)
    except HarnessError as error:
        status = 404 if isinstance(error, UnknownName) else 409
        return trouble.page(request, status, error.what, error.do)
