"""What a person says of a finding: confirmed, by design, withdrawn, with a note and a link."""

from __future__ import annotations

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.views.decorators.http import require_POST

from dashboard import trouble
from dashboard.forms import problems
from dashboard.views.run import find
from runs import notify
from runs.models import Finding, Opinion


class OpinionForm(forms.Form):
    """An empty word takes the opinion back."""

    law = forms.RegexField(r"^L\d{1,2}$")
    agent = forms.CharField(max_length=200, required=False, strip=False)
    word = forms.ChoiceField(choices=[("", "–"), *Opinion.Word.choices], required=False)
    note = forms.CharField(max_length=4000, required=False)
    link = forms.URLField(max_length=200, required=False, assume_scheme="https")

    def clean_link(self) -> str:
        """Only addresses of the web: what is pressed must not run."""
        link = str(self.cleaned_data["link"])
        if link and not link.startswith(("https://", "http://")):
            raise forms.ValidationError("A link begins with https://.")
        return link


@require_POST
def say(request: HttpRequest, permalink: str) -> HttpResponse:
    """Store, change or take back one opinion."""
    run, form = find(permalink), OpinionForm(request.POST)
    if not form.is_valid():
        return trouble.page(request, 400, " ".join(problems(form)), "Go back and change it.")
    said = form.cleaned_data
    place = {"run": run, "law": said["law"], "agent": said["agent"]}
    if not Finding.objects.filter(**place).exists():
        return trouble.page(request, 404, "There is no such finding.", "It may have been rejudged.")
    if said["word"]:
        values = {key: said[key] for key in ("word", "note", "link")}
        Opinion.objects.update_or_create(**place, defaults=values)
    else:
        Opinion.objects.filter(**place).delete()
    notify.poke_run(run.pk)
    notify.poke_runs(run.pk)
    return redirect(f"/runs/{permalink}/#findings")
