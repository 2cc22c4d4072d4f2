"""The forms of the pages; what a person types is checked here before anything is made of it."""

from __future__ import annotations

import re
from typing import Any

from django import forms

from runs import catalogue, saved, start

MAX_TAGS = 20
TAG = r"[A-Za-z0-9_.:/+-]{1,40}"


class StartForm(forms.Form):
    """agent · version · scenario · repeats."""

    agent = forms.ChoiceField()
    version = forms.RegexField(
        start.VERSION.pattern.join(("^", "$")),
        required=False,
        strip=True,
        error_messages={
            "invalid": "Write a version as 1.0.81 or latest, or leave it empty for the newest here."
        },
    )
    scenario = forms.ChoiceField()
    repeat = forms.IntegerField(min_value=1, max_value=start.MAX_REPEAT, initial=1)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        agents = forms.ChoiceField(choices=[(name, name) for name in catalogue.drivers()])
        scenarios = forms.ChoiceField(choices=[(name, name) for name in saved.known()])
        self.fields["agent"], self.fields["scenario"] = agents, scenarios


class NotesForm(forms.Form):
    """Notes and tags of a run."""

    notes = forms.CharField(required=False, max_length=20_000)
    tags = forms.CharField(required=False, max_length=1_000)

    def clean_tags(self) -> list[str]:
        """Tags are separated by spaces or commas; each has letters, digits and . : / + - _."""
        tags = list(dict.fromkeys(self.cleaned_data["tags"].replace(",", " ").split()))
        for tag in tags:
            if not re.fullmatch(TAG, tag):
                raise forms.ValidationError(f"{tag!r} is no tag: letters, digits and . : / + - _")
        if len(tags) > MAX_TAGS:
            raise forms.ValidationError(f"At most {MAX_TAGS} tags.")
        return tags


def problems(form: forms.Form) -> list[str]:
    """All errors of a form as sentences that name the field."""
    return [
        f"{'' if name == '__all__' else name + ': '}{error}"
        for name, errors in form.errors.items()
        for error in errors
    ]
