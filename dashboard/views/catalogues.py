"""Scenarios, faults and laws: pages made from the registries."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from runs import catalogue
from runs.core.law import Thresholds


def _page(
    request: HttpRequest, section: str, title: str, entries: Any, **more: Any
) -> HttpResponse:
    context = {"section": section, "title": title, "entries": entries, **more}
    return render(request, f"catalogue/{section}.html", context)


@require_GET
def scenarios(request: HttpRequest) -> HttpResponse:
    """Every scenario that ships: its question, its faults, its TOML."""
    return _page(request, "scenarios", "Scenarios", list(catalogue.scenarios().values()))


@require_GET
def faults(request: HttpRequest) -> HttpResponse:
    """Every fault: what a client sees, its settings, the scenarios that use it."""
    used: dict[str, list[str]] = {}
    for scenario in catalogue.scenarios().values():
        for name in dict.fromkeys(item["fault"] for item in scenario.faults):
            used.setdefault(name, []).append(scenario.name)
    entries = [
        {"fault": fault, "settings": _settings(fault), "scenarios": used.get(name, [])}
        for name, fault in catalogue.faults().items()
    ]
    return _page(request, "faults", "Faults", entries)


@require_GET
def laws(request: HttpRequest) -> HttpResponse:
    """Every law: sentence, why, how it is detected, what it needs, its parameters."""
    defaults = Thresholds()
    entries = [
        {"law": law, "parameters": [(name, getattr(defaults, name)) for name in law.parameters]}
        for law in catalogue.laws().values()
    ]
    return _page(request, "laws", "Laws", entries)


def _settings(fault: Any) -> list[tuple[str, Any]]:
    """The fields of a fault with their defaults ("–": it must be given)."""
    return [
        (item.name, "–" if item.default is MISSING else item.default)
        for item in fields(fault)
        if item.init
    ]
