"""Saved scenarios have a name and a history, are found like shipped ones, and never hide them."""

from __future__ import annotations

import pytest

from runs import catalogue, saved, start
from runs.models import Run
from runs.scenario import ScenarioError

TEXT = 'name = "mine"\nquestion = "Why?"\nscript = "delegate-one" # my own\n'
pytestmark = [pytest.mark.django_db]


def test_it_keeps_every_version_as_it_was_written() -> None:
    saved.save(TEXT, "copied from sse-cut")
    saved.save(TEXT)  # nothing new
    saved.save(TEXT.replace("Why?", "How?"))
    assert [(row.number, row.toml) for row in saved.versions("mine")] == [
        (2, TEXT.replace("Why?", "How?")),
        (1, TEXT),
    ]
    assert saved.versions("mine")[1].origin == "copied from sse-cut"
    assert saved.load("mine").question == "How?"


@pytest.mark.parametrize("name", ["sse-cut", "new", "import", "check"])
def test_it_refuses_a_name_that_ships_or_that_pages_need(name: str) -> None:
    with pytest.raises(ScenarioError, match=name):
        saved.save(TEXT.replace("mine", name))
    assert saved.names() == []


def test_a_run_takes_it_by_name_and_keeps_its_own_snapshot() -> None:
    saved.save(TEXT)
    (run,) = start.create("reference", "1.1.0", "mine", queue=False)
    saved.save(TEXT.replace("Why?", "How?"))
    assert Run.objects.get(pk=run.pk).snapshot["question"] == "Why?"


def test_it_names_the_nearest_saved_or_shipped_one() -> None:
    saved.save(TEXT.replace("mine", "peculiar"))
    with pytest.raises(ScenarioError, match="peculiar"):
        saved.load("peculier")
    with pytest.raises(ScenarioError, match="sse-cut"):
        saved.load("sse-ct")


def test_a_saved_one_that_cannot_be_read_any_more_is_left_out_of_lists() -> None:
    row = saved.save(TEXT)
    row.toml = "script = 3"
    row.save()
    assert saved.everything() == {} and saved.names() == ["mine"]
    assert set(saved.known()) == set(catalogue.scenarios())
