"""What is pressed on a run: again, cancel, delete, keep, notes. Each is a POST that redirects."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from dashboard import trouble
from dashboard.forms import NotesForm, problems
from dashboard.views.run import find
from runs import notify, start
from runs.errors import HarnessError
from runs.models import Run


@require_POST
def again(request: HttpRequest, permalink: str) -> HttpResponse:
    """The same once more, on this version or the one in `version`."""
    try:
        fresh = start.again(find(permalink), request.POST.get("version", "").strip() or None)
    except HarnessError as error:
        return trouble.page(request, 400, error.what, error.do)
    return redirect("run", fresh.permalink)


@require_POST
def cancel(request: HttpRequest, permalink: str) -> HttpResponse:
    """Ask for its end."""
    start.cancel(find(permalink))
    return redirect("run", permalink)


@require_POST
def delete(request: HttpRequest, permalink: str) -> HttpResponse:
    """Remove it with its events and files."""
    try:
        start.delete(find(permalink))
    except HarnessError as error:
        return trouble.page(request, 409, error.what, error.do)
    return redirect("runs")


@require_POST
def keep(request: HttpRequest, permalink: str) -> HttpResponse:
    """Keep it from retention, or no longer."""
    found = find(permalink)
    Run.objects.filter(pk=found.pk).update(keep=request.POST.get("keep") == "1")
    notify.poke_runs(found.pk)
    return redirect("run", permalink)


@require_POST
def notes(request: HttpRequest, permalink: str) -> HttpResponse:
    """Save notes and tags."""
    found, form = find(permalink), NotesForm(request.POST)
    if not form.is_valid():
        return trouble.page(request, 400, " ".join(problems(form)), "Go back and change it.")
    Run.objects.filter(pk=found.pk).update(**form.cleaned_data)
    notify.poke_runs(found.pk)
    return redirect(f"/runs/{permalink}/#notes")
