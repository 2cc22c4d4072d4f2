"""`/watch/`: cells that are run by themselves when a new version appears."""

from __future__ import annotations

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST

from dashboard.forms import problems
from runs import catalogue, saved, start, watching
from runs.errors import HarnessError
from runs.models import News, Watch


class WatchForm(forms.Form):
    """agent · scenario · repeats · webhook."""

    agent = forms.ChoiceField()
    scenario = forms.ChoiceField()
    repeat = forms.IntegerField(min_value=1, max_value=20, initial=3)
    webhook = forms.CharField(required=False, max_length=500)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        agents = forms.ChoiceField(choices=[(name, name) for name in catalogue.drivers()])
        scenarios = forms.ChoiceField(choices=[(name, name) for name in saved.known()])
        self.fields["agent"], self.fields["scenario"] = agents, scenarios


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def watches(request: HttpRequest) -> HttpResponse:
    """The page; a POST makes a watch, turned off."""
    form, trouble = WatchForm(request.POST or None), []
    if request.method == "POST":
        trouble = problems(form)
        if form.is_valid():
            given = form.cleaned_data
            try:
                watching.create(
                    given["agent"],
                    given["scenario"],
                    repeat=given["repeat"],
                    webhook=given["webhook"],
                )
                return redirect("watches")
            except HarnessError as error:
                trouble = [str(error)]
    context = {
        "section": "watch",
        "trouble": trouble,
        "given": request.POST or request.GET,
        "watches": watching.all_watches(),
        "news": News.objects.select_related("watch").order_by("-pk")[:30],
        "agents": list(catalogue.drivers()),
        "scenarios": list(saved.known().values()),
        "workers": len(start.workers()),
    }
    return render(request, "watch/page.html", context, status=400 if trouble else 200)


@require_POST
def steer(request: HttpRequest, pk: int) -> HttpResponse:
    """Turn a watch on or off, or remove it."""
    watch = get_object_or_404(Watch, pk=pk)
    action = request.POST.get("do", "")
    if action == "remove":
        watch.delete()
    elif action in ("on", "off"):
        watching.turn(watch, action == "on")
    return redirect("watches")


@require_POST
def seen(request: HttpRequest, pk: int) -> HttpResponse:
    """Put a change away from the first page."""
    News.objects.filter(pk=pk).update(seen=True)
    return redirect("runs" if request.POST.get("from") == "runs" else "watches")
