"""`/bisects/<permalink>/`: which version came first with it, step by step, live."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_GET, require_http_methods

from dashboard import plans
from dashboard.forms import problems
from dashboard.views import sweeps as pages
from runs import bisections, catalogue, saved, start, sweeps
from runs.errors import HarnessError
from runs.models import Run, Sweep
from runs.scenario import ScenarioError
from runs.text import visible


class BisectForm(forms.Form):
    """agent · good · bad · scenario · what to look for."""

    agent = forms.ChoiceField()
    good = forms.RegexField(start.VERSION.pattern.join(("^", "$")))
    bad = forms.RegexField(start.VERSION.pattern.join(("^", "$")))
    scenario = forms.ChoiceField()
    look = forms.CharField(max_length=300)
    repeat = forms.IntegerField(min_value=1, max_value=10, initial=1)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        agents = forms.ChoiceField(choices=[(name, name) for name in catalogue.drivers()])
        scenarios = forms.ChoiceField(choices=[(name, name) for name in saved.known()])
        self.fields["agent"], self.fields["scenario"] = agents, scenarios


@require_http_methods(["GET", "HEAD", "POST"])
def create(request: HttpRequest) -> HttpResponse:
    """Make a bisection and go to it; the form stands on /sweeps/."""
    if request.method != "POST":
        return redirect("/sweeps/#bisect-form")
    form = BisectForm(request.POST)
    trouble = problems(form)
    if form.is_valid():
        given = form.cleaned_data
        try:
            made = bisections.create(
                given["agent"],
                given["good"],
                given["bad"],
                given["scenario"],
                given["look"],
                repeat=given["repeat"],
            )
        except (HarnessError, ScenarioError, ValueError) as error:
            trouble = [str(error)]
        else:
            sweeps.advance(made)
            sweeps.feed()
            return redirect("bisect", made.permalink)
    return render(request, "sweeps/page.html", pages.forms_context(request, trouble), status=400)


@never_cache
@require_GET
def bisect(request: HttpRequest, permalink: str) -> HttpResponse:
    """One bisection: the answer, the versions as a track, every step with its runs."""
    return render(request, "bisects/page.html", _context(request, pages.find(permalink, True)))


@never_cache
@require_GET
def parts(request: HttpRequest, permalink: str) -> HttpResponse:
    """The sections that change while it goes on."""
    return render(request, "bisects/parts.html", _context(request, pages.find(permalink, True)))


def _context(request: HttpRequest, found: Sweep) -> dict[str, Any]:
    result = found.result
    ends = [result.get("last_before"), result.get("first")]
    made = plans.steps(found)
    newest = {step["version"]: step["runs"][-1] for step in made}
    address = request.build_absolute_uri(reverse("bisect", args=[found.permalink]))
    both = [newest[version].permalink for version in ends if version in newest]
    return {
        "section": "sweeps",
        "sweep": found,
        "search": found.search,
        "result": result,
        "place": bisections.place(found.search),
        "title": plans.title(found),
        "tone": plans.TONES[found.state],
        "progress": plans.progress(found),
        "track": plans.track(found),
        "steps": made,
        "running": list(found.runs.filter(status=Run.Status.RUNNING)[:4]),
        "left": len([row for row in plans.track(found) if not row["saw"]]),
        "compare": ",".join(both) if len(both) == 2 else "",
        "workers": start.workers(),
        "pasted": plans.bisect_block(found, address),
        "command": visible(plans.command(found)),
    }
