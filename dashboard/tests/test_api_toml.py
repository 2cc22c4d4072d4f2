"""The API takes a scenario as text: shown whole, confirmed by the mark of what was shown, run."""

from __future__ import annotations

import json
import tomllib
from typing import Any

import pytest
from django.test import Client

from runs import catalogue
from runs.models import Run, SavedScenario

MINE = """name = "mine"
question = "What if the second try goes well?"
script = "delegate-one"

[[faults]]
fault = "sse-cut"
on = { caller = "child:1", attempt = 1 }
"""


def _post(client: Client, **body: Any) -> Any:
    given = {"agent": "reference@1.0.0", **body}
    return client.post("/api/runs", json.dumps(given), content_type="application/json")


@pytest.mark.django_db
def test_a_text_is_shown_whole_and_runs_once_it_is_confirmed(client: Client) -> None:
    shown = _post(client, toml=MINE)
    assert shown.status_code == 428 and not Run.objects.exists()
    body = shown.json()
    assert tomllib.loads(body["toml"]) == tomllib.loads(MINE)
    assert body["faults"] == ["Clean end too early: attempt 1 of every call of child 1"]
    assert "delegates" in body["script"] and "confirm" in body["error"]["do"]
    made = _post(client, toml=MINE, confirm=body["confirm"])
    assert made.status_code == 201
    run = Run.objects.get()
    assert run.scenario == "mine" and run.snapshot["faults"][0]["on"]["attempt"] == 1
    assert not SavedScenario.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    "other",
    [
        {"toml": MINE.replace("sse-cut", "chunk-cut")},
        {"sets": {"faults.0.attempt": "all"}},
        {"sets": {"agents.reference.break": "false-completion"}},
    ],
)
def test_a_confirmation_is_good_for_nothing_else(client: Client, other: dict[str, Any]) -> None:
    mark = _post(client, toml=MINE).json()["confirm"]
    answer = _post(client, **{"toml": MINE, "confirm": mark} | other)
    assert answer.status_code == 428 and answer.json()["confirm"] != mark
    assert "another text" in answer.json()["error"]["what"]
    assert not Run.objects.exists()


@pytest.mark.django_db
def test_sets_are_part_of_what_is_shown(client: Client) -> None:
    sets = {"faults.0.attempt": "all", "guards.deadline": "20"}
    shown = _post(client, toml=MINE, sets=sets).json()
    tree = tomllib.loads(shown["toml"])
    assert tree["faults"][0]["on"]["attempt"] == "all" and tree["guards"] == {"deadline": 20}
    assert _post(client, toml=MINE, sets=sets, confirm=shown["confirm"]).status_code == 201
    assert Run.objects.get().snapshot["faults"][0]["on"]["attempt"] == "all"


@pytest.mark.django_db
def test_a_name_with_sets_needs_no_confirmation(client: Client) -> None:
    made = _post(client, scenario="cut-once", sets={"faults.0.attempt": "all"})
    assert made.status_code == 201
    assert Run.objects.get().snapshot["faults"][0]["on"]["attempt"] == "all"


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "named"),
    [
        ({"toml": MINE.replace("sse-cut", "sse-cuts")}, "did you mean 'sse-cut'"),
        ({"toml": MINE.replace("attempt = 1", "atempt = 1")}, "line 7 faults.0.on.atempt"),
        ({"toml": MINE.replace('"mine"', '"sse-cut"')}, "ships with Lifeline"),
        ({"toml": "name = "}, "not TOML"),
        ({"toml": "#" * 70_000}, "toml"),
        ({"toml": MINE, "scenario": "sse-cut"}, "one of the two"),
        ({}, "scenario"),
    ],
)
def test_what_is_wrong_is_named(client: Client, body: dict[str, Any], named: str) -> None:
    answer = _post(client, **body)
    assert answer.status_code == 422 and named in answer.json()["error"]["what"]
    assert not Run.objects.exists()


@pytest.mark.django_db
def test_a_shipped_scenario_may_come_as_its_own_text(client: Client) -> None:
    text = catalogue.scenarios()["sse-cut"].toml()
    mark = _post(client, toml=text).json()["confirm"]
    assert _post(client, toml=text, confirm=mark).status_code == 201
