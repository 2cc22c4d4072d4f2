"""`/scenarios/import/`: a scenario from elsewhere is shown whole and confirmed before it runs."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from dashboard import sketch
from dashboard.versions import choices
from dashboard.views.scenarios import RUN_ON, keep
from runs import catalogue, saved
from runs.checking import LIMIT, Checked, Problem, check


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def taking(request: HttpRequest) -> HttpResponse:
    """A file or a text; then all of it, to be confirmed; then it is saved, and may be run."""
    if request.method != "POST":
        return render(request, "scenarios/import.html", {"section": "scenarios"})
    checked = _given(request)
    action = request.POST.get("action", "show")
    confirmed = request.POST.get("confirmed") == "on"
    if checked.scenario and confirmed and action in ("save", "run"):
        return keep(request, checked, "imported", run=action == "run")
    found = checked.scenario
    context = {
        "section": "scenarios",
        "checked": checked,
        "scenario": found,
        "plan": sketch.drawing(checked.tree),
        "faults": sketch.sentences(found) if found else [],
        "script": catalogue.scripts()[found.script] if found else None,
        "shipped": bool(found and found.name in catalogue.scenarios()),
        "versions": len(saved.versions(found.name)) if found else 0,
        "unconfirmed": action in ("save", "run") and not confirmed,
        "agents": list(catalogue.drivers().values()),
        "version_choices": choices(),
        "chosen": RUN_ON,
    }
    status = 400 if checked.problems or context["unconfirmed"] else 200
    return render(request, "scenarios/confirm.html", context, status=status)


def _given(request: HttpRequest) -> Checked:
    """The uploaded file, else the text."""
    file = request.FILES.get("file")
    if file is None:
        return check(request.POST.get("toml", "")[: LIMIT + 1])
    raw = file.read(LIMIT * 4 + 1)
    try:
        return check(raw.decode("utf-8-sig"))
    except UnicodeDecodeError:
        return Checked("", None, None, (Problem("", "This is no text in UTF-8."),))
