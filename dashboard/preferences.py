"""What a browser remembers: theme and clock, as cookies, so that pages come painted right."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest

CHOICES: dict[str, list[tuple[str, str]]] = {
    "theme": [("auto", "auto"), ("light", "light"), ("dark", "dark")],
    "clock": [("start", "since start"), ("local", "local"), ("utc", "UTC")],
}
NAVIGATION = [
    ("runs", "Runs"),
    ("matrix", "Matrix"),
    ("sweeps", "Sweeps"),
    ("import", "Import"),
    ("scenarios", "Scenarios"),
    ("agents", "Agents"),
    ("faults", "Faults"),
    ("laws", "Laws"),
    ("drift", "Drift"),
]
"""Address name and word of the header; pages that do not exist yet are absent, not dead."""


def chosen(request: HttpRequest, name: str) -> str:
    """The remembered value of `theme` or `clock`, its default when the cookie holds nonsense."""
    values = [value for value, _ in CHOICES[name]]
    given = request.COOKIES.get(name, "")
    return given if given in values else values[0]


def context(request: HttpRequest) -> dict[str, Any]:
    """Context processor of every page."""
    return {
        "preferences": {name: chosen(request, name) for name in CHOICES},
        "preference_choices": CHOICES,
        "navigation": NAVIGATION,
        "rights": getattr(request, "rights", frozenset()),
    }
