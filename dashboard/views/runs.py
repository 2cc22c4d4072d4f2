"""`/`: the start form and the list of runs, newest first, live."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from dashboard import filters, rows
from dashboard.forms import StartForm, problems
from dashboard.versions import choices
from runs import catalogue, saved, start
from runs.errors import HarnessError
from runs.models import Run
from runs.scenario import ScenarioError

FIRST = {"agent": "reference", "version": "", "scenario": "sse-cut", "repeat": 1}
"""What the one press of the empty page runs; it needs no download."""


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def runs(request: HttpRequest) -> HttpResponse:
    """The page; a POST of the start form makes runs and goes to them."""
    form, trouble = StartForm(request.POST or None, initial=_initial(request.GET)), []
    if request.method == "POST":
        if form.is_valid():
            try:
                return redirect(_start(form.cleaned_data))
            except (HarnessError, ScenarioError) as error:
                trouble = [str(error)]
        else:
            trouble = problems(form)
    return render(
        request,
        "runs/page.html",
        {**_list(request), **_start_context(form, trouble)},
        status=400 if trouble else 200,
    )


@never_cache
@require_GET
def list_rows(request: HttpRequest) -> HttpResponse:
    """The rows alone, for the live list."""
    return render(request, "runs/_rows.html", _list(request))


def _start(given: Mapping[str, Any]) -> str:
    """Make the runs and give the address to go to."""
    made = start.create(given["agent"], given["version"], given["scenario"], repeat=given["repeat"])
    if len(made) == 1:
        return f"/runs/{made[0].permalink}/"
    return "/?" + urlencode({"q": f"batch:{made[0].batch}"})


def _initial(query: Mapping[str, str]) -> dict[str, Any]:
    """What the form shows: the address may name it (`?agent=…&version=…&scenario=…`)."""
    newest = Run.objects.filter(kind="run").order_by("-id").only("agent", "scenario").first()
    chosen = dict(FIRST)
    if newest:
        chosen |= {"agent": newest.agent, "scenario": newest.scenario}
    chosen |= {key: query[key] for key in chosen if query.get(key)}
    agent, known = str(chosen["agent"]), saved.known()
    if query.get("scenario") or agent not in catalogue.drivers():
        return chosen
    refused = catalogue.not_applicable(agent, known.values())
    if chosen["scenario"] in refused:  # offer none that has no meaning for the agent
        chosen["scenario"] = next((name for name in known if name not in refused), "")
    return chosen


def _start_context(form: StartForm, trouble: list[str]) -> dict[str, Any]:
    values = {name: form[name].value() for name in form.fields}
    return {
        "form": values,
        "trouble": trouble,
        "agents": list(catalogue.drivers().values()),
        "scenarios": list(saved.known().values()),
        "version_choices": choices(),
        "max_repeat": start.MAX_REPEAT,
        "first": FIRST,
    }


def _list(request: HttpRequest) -> dict[str, Any]:
    query = request.GET.get("q", "")[:500].replace("\x00", "")
    before = request.GET.get("before", "")
    parsed = filters.parse(query)
    page = rows.page(query, int(before) if before.isdigit() and len(before) < 19 else None)
    return {
        "section": "runs",
        "page": page,
        "query": query,
        "chips": [(term, parsed.without(term)) for term in parsed.terms],
        "in_transcripts": parsed.in_transcripts,
        "filter_help": filters.HELP,
        "empty": not page.rows and not query and not before,
    }
