"""`/sweeps/`: the forms and the list; one sweep live; pause, resume, cancel."""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from itertools import product
from typing import Any

from django import forms
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods, require_POST

from dashboard import gridcopies, grids, plans
from dashboard.forms import problems
from dashboard.views import matrix
from runs import binaries, catalogue, models, named, notify, saved, start, sweeps, words
from runs.errors import HarnessError, NotApplicable
from runs.models import Run, Sweep
from runs.scenario import ScenarioError
from runs.text import visible

LISTED = 40
RUNNING_SHOWN = 8


class SweepForm(forms.Form):
    """What to sweep: as on the command line."""

    agents = forms.CharField(max_length=20_000)
    scenarios = forms.CharField(max_length=8_000)
    repeat = forms.IntegerField(min_value=1, max_value=start.MAX_REPEAT, initial=1)
    only_missing = forms.BooleanField(required=False)


def find(permalink: str, bisection: bool) -> Sweep:
    """The sweep (or bisection) behind a permalink; 404 when there is none."""
    found = Sweep.objects.filter(permalink=permalink).first()
    if found is None or bool(found.search) != bisection:
        raise Http404
    return found


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def sweeps_page(request: HttpRequest) -> HttpResponse:
    """The page; a POST makes a sweep and goes to it."""
    form, trouble = SweepForm(request.POST or None), []
    if request.method == "POST":
        trouble = problems(form)
        if form.is_valid():
            try:
                return redirect("sweep", _make(form.cleaned_data).permalink)
            except (HarnessError, ScenarioError) as error:
                trouble = [str(error)]
    return render(
        request, "sweeps/page.html", forms_context(request, trouble), status=400 if trouble else 200
    )


def forms_context(request: HttpRequest, trouble: list[str]) -> dict[str, Any]:
    """What the page with both forms needs; `trouble` is why a POST was refused."""
    given = request.POST or request.GET
    newest = Sweep.objects.order_by("-pk")[:LISTED]
    names = ("agents", "scenarios", "repeat", "agent", "good", "bad", "scenario", "look")
    return {
        "section": "sweeps",
        "trouble": trouble,
        "given": {name: given.get(name, "") for name in names},
        "rows": [_row(sweep) for sweep in newest],
        "presets": plans.PRESETS,
        "agents": list(catalogue.drivers().values()),
        "scenarios": list(saved.known().values()),
        "laws": list(catalogue.laws().values()),
        "max_repeat": start.MAX_REPEAT,
        "workers": len(start.workers()),
    }


def _row(sweep: Sweep) -> dict[str, Any]:
    return {
        "sweep": sweep,
        "title": plans.title(sweep),
        "progress": plans.progress(sweep),
        "tone": plans.TONES[sweep.state],
        "name": "bisect" if sweep.search else "sweep",
    }


def _make(given: dict[str, Any]) -> Sweep:
    chosen = named.binaries_of(given["agents"])
    made = sweeps.create(
        chosen,
        scenario_names(given["scenarios"]),
        repeat=given["repeat"],
        only_missing=given["only_missing"],
    )
    if not made.runs.exists():
        made.delete()
        raise HarnessError("Nothing is missing: every cell has that many runs.")
    sweeps.feed()
    notify.poke_runs()
    return made


def scenario_names(text: str) -> list[str]:
    """Names of shipped scenarios; never a path: files are read on the command line only."""
    names = [part for part in text.replace(",", " ").split() if part]
    for name in names:
        if name not in saved.known():
            raise HarnessError(f"There is no scenario {name!r}.", "See /scenarios/.")
    return list(dict.fromkeys(names))


@never_cache
@require_GET
def plan(request: HttpRequest) -> HttpResponse:
    """What the form would start, in words, as a fragment: runs and about how long."""
    try:
        chosen = named.binaries_of(request.GET.get("agents", "")[:20_000])
        names = scenario_names(request.GET.get("scenarios", "")[:8_000])
    except (HarnessError, ScenarioError, ValueError) as error:
        return render(request, "sweeps/_plan.html", {"trouble": str(error)})
    repeat = request.GET.get("repeat", "1")
    times = int(repeat) if repeat.isdecimal() and len(repeat) < 4 else 1
    left = [place for place in product(chosen, names) if not _has_meaning(*place)]
    per = Counter(agent for agent, _ in chosen for _ in names)
    per.subtract(agent for (agent, _), _ in left)
    per = Counter({agent: cells * times for agent, cells in per.items()})
    count = per.total()
    planned = f"{words.plural(len(chosen), 'version')} × {words.plural(len(names), 'scenario')}"
    if left:
        planned = f"({planned} − {len(left)} without a meaning)"
    context = {
        "count": count,
        "said": f"{planned} × {times} = {words.plural(count, 'run')}",
        "about": grids.about(grids.seconds_for(per)) if count else "",
        "most": sweeps.MOST_RUNS,
        "absent": ", ".join(f"{agent} {version}" for agent, version in _absent(chosen)),
    }
    return render(request, "sweeps/_plan.html", context)


def _has_meaning(binary: tuple[str, str], name: str) -> bool:
    agent, version = binary
    chosen, options = start.bent(agent, saved.load(name), {})
    try:
        catalogue.check_meaning(agent, version, chosen, options)
    except NotApplicable:
        return False
    return True


def _absent(chosen: list[tuple[str, str]]) -> list[tuple[str, str]]:
    """Those that have no package for this platform, by the kept lists of versions."""
    found: set[tuple[str, str]] = set()
    for agent in {agent for agent, _ in chosen}:
        with suppress(HarnessError, OSError):
            listed = binaries.versions(agent, refresh=False)
            found |= {(agent, item.version) for item in listed if not item.here}
    return [pair for pair in chosen if pair in found]


@never_cache
@require_GET
def sweep(request: HttpRequest, permalink: str) -> HttpResponse:
    """One sweep: progress, its matrix, what runs now, the block to paste."""
    context = _sweep(request, find(permalink, bisection=False))
    return render(request, "sweeps/sweep.html", context)


@never_cache
@require_GET
def parts(request: HttpRequest, permalink: str) -> HttpResponse:
    """The sections that change while it goes on."""
    context = _sweep(request, find(permalink, bisection=False))
    return render(request, "sweeps/parts.html", context)


def _sweep(request: HttpRequest, found: Sweep) -> dict[str, Any]:
    view = plans.view_of(found)
    runs = found.runs
    trouble = runs.filter(status__in=[Run.Status.ERRORED, Run.Status.LOST]).order_by("-pk")
    return {
        **matrix.context(view),
        "section": "sweeps",
        **_row(found),
        "running": list(runs.filter(status=Run.Status.RUNNING).order_by("pk")[:RUNNING_SHOWN]),
        "trouble_runs": list(trouble[:RUNNING_SHOWN]),
        "trouble_count": trouble.count(),
        "workers": start.workers(),
        "pasted": gridcopies.as_markdown(view)
        + f"\n{request.build_absolute_uri(f'/sweeps/{found.permalink}/')}\n",
        "command": visible(plans.command(found)),
        "binaries": plans.binaries_text(found.plan.get("binaries", [])),
        "scenario_list": ",".join(found.plan.get("scenarios", [])),
        "matrix_query": _matrix_query(found),
    }


def _matrix_query(found: Sweep) -> str:
    pairs = [tuple(pair) for pair in found.plan.get("binaries", [])]
    agents = tuple(dict.fromkeys(agent for agent, _ in pairs))
    versions = ",".join(dict.fromkeys(version for _, version in pairs)) if len(agents) == 1 else ""
    asked = grids.Asked(agents, versions, tuple(found.plan.get("scenarios", [])))
    return asked.address()


@require_POST
def steer(request: HttpRequest, permalink: str) -> HttpResponse:
    """Pause, resume or cancel a sweep or a bisection, then go back to it."""
    found = models.Sweep.objects.filter(permalink=permalink).first()
    if found is None:
        raise Http404
    action = {"pause": sweeps.pause, "resume": sweeps.resume, "cancel": sweeps.cancel}.get(
        request.POST.get("do", "")
    )
    if action:
        action(found)
        sweeps.advance(found)
        sweeps.feed()
    return redirect("bisect" if found.search else "sweep", permalink)
