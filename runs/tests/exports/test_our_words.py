"""Words of ours that look like a secret: they stay where they are none."""

from __future__ import annotations

import pytest

from runs import export, imports, material, models
from runs.redact import Choice
from runs.tests.exports.planted import CUT

NOTES = (
    "in /home/data/x", "see /Users/max/x", "/home/name/x", "/home/style/x", "/home/mark/x",
    "login: completed", "user: unknown", "password: completed", "host: failed", "api_key: timeout",
    "http://x:80/y", "ssh max@h1 ls", "ssh max@req1 ls", "ssh max@r1 ls",
)  # fmt: skip


@pytest.mark.django_db
def test_words_of_ours_stay_where_they_are_no_secret() -> None:
    first = imports.store_paths([CUT])
    for note in NOTES:
        models.Run.objects.filter(pk=first.pk).update(notes=note)
        first.refresh_from_db()
        made = material.of(first, Choice.of("structure"))
        for chosen in export.exports().values():
            with export.render(chosen, made) as found:
                data = found.read()
            if chosen.name == "archive":
                again = imports.begin(*imports.receive([("run.zip", iter([data]))]))
                assert (again.diagnosis, again.broken) == (first.diagnosis, first.broken), note


@pytest.mark.django_db
def test_a_name_that_is_no_word_of_ours_goes_from_everywhere() -> None:
    run = imports.store_paths([CUT])
    models.Run.objects.filter(pk=run.pk).update(notes="in /home/maxine/x", tags=["maxine"])
    run.refresh_from_db()
    made = material.of(run, Choice.of("structure"))
    assert made.run["tags"] == ["⟨user-1⟩"]
