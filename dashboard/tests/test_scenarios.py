"""The scenario pages without JavaScript: everything is a form, and nothing is trusted."""

from __future__ import annotations

import re
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from dashboard import sketch
from runs import catalogue, saved
from runs.models import Run
from runs.scenario import Scenario

TEXT = 'name = "mine"\nquestion = "Why?"\nscript = "delegate-many"\n'
pytestmark = [pytest.mark.django_db]


def _page(answer: Any) -> str:
    return str(answer.content.decode())


def test_the_list_finds_scenarios_by_words_faults_and_laws(client: Client) -> None:
    saved.save(TEXT)
    assert len(client.get("/scenarios/").context["entries"]) == len(catalogue.scenarios()) + 1
    found = client.get("/scenarios/", {"q": "rate-limit L6"}).context["entries"]
    assert found and all("L6" in each.laws for each in found)
    assert _page(client.get("/scenarios/", {"q": "<b>nothing"})).count("<b>nothing") == 0


def test_a_scenarios_page_shows_drawing_question_reports_and_laws(client: Client) -> None:
    page = _page(client.get("/scenarios/one-of-two-cut/"))
    scenario = catalogue.scenarios()["one-of-two-cut"]
    assert 'data-caller="child:2"' in page and "✂ sse-cut" in page
    assert scenario.question.replace("'", "&#x27;") in page
    assert 'href="https://github.com/github/copilot-cli/issues/4427"' in page
    assert all(f'href="/laws/#{law}"' in page for law in scenario.laws)


def test_a_press_on_a_box_breaks_it_and_a_second_one_mends_it(client: Client) -> None:
    page = _page(client.post("/scenarios/new", {"toml": TEXT, "press": "child:2/0/1"}))
    assert "tries again" in page and 'value="child:2/0/1@0"' in page
    broken = re.search(r"<textarea id=\"editor-toml\".*?>\n(.*?)</textarea>", page, re.S)
    assert broken and "child:2" in broken[1]
    text = broken[1].replace("&quot;", '"')
    mended = _page(client.post("/scenarios/new", {"toml": text, "mend": "child:2/0/1@0"}))
    assert "✂" not in mended


def test_it_says_what_is_wrong_with_the_key_and_saves_nothing(client: Client) -> None:
    text = TEXT.replace("script", "scrpt")
    answer = client.post("/scenarios/new", {"toml": text, "action": "save"})
    assert answer.status_code == 400
    assert "Did you mean &#x27;script&#x27;?" in _page(answer) and saved.names() == []


def test_it_saves_edits_and_runs(client: Client, settings: Any) -> None:
    made = client.post("/scenarios/new", {"toml": TEXT, "action": "save"})
    assert made["Location"] == "/scenarios/mine/"
    assert 'value="' in _page(client.get("/scenarios/mine/edit"))
    body = {"toml": TEXT + "laws = ['L2']\n", "action": "run", "agent": "reference"}
    ran = client.post("/scenarios/mine/edit", body)
    run = Run.objects.get()
    assert ran["Location"] == f"/runs/{run.permalink}/"
    assert run.scenario == "mine" and run.snapshot["laws"] == ["L2"]
    page = _page(client.get("/scenarios/mine/"))
    assert "version 2" in page and "+laws = [" in page
    assert "laws" not in _page(client.get("/scenarios/mine/toml?version=1"))


def test_a_shipped_one_cannot_be_changed_only_copied(client: Client) -> None:
    assert client.get("/scenarios/sse-cut/edit")["Location"] == "/scenarios/new?from=sse-cut"
    copy = client.get("/scenarios/new?from=sse-cut").context["checked"].scenario
    assert copy.name == "sse-cut-2" and copy.faults == catalogue.scenarios()["sse-cut"].faults
    text = catalogue.scenarios()["sse-cut"].toml() + "\n[thresholds]\nstall_after = 1\n"
    for action in ("save", "run"):
        assert client.post("/scenarios/new", {"toml": text, "action": action}).status_code == 400
    assert saved.names() == [] and not Run.objects.exists()


@pytest.mark.parametrize("how", ["file", "text"])
def test_an_import_is_shown_whole_and_runs_only_when_confirmed(client: Client, how: str) -> None:
    file = SimpleUploadedFile("x.toml", TEXT.encode())
    shown = client.post("/scenarios/import/", {"file": file} if how == "file" else {"toml": TEXT})
    assert "script = &quot;delegate-many&quot;" in _page(shown) and saved.names() == []
    body = {"toml": TEXT, "action": "run", "agent": "reference"}
    assert client.post("/scenarios/import/", body).status_code == 400
    assert saved.names() == [] and not Run.objects.exists()
    client.post("/scenarios/import/", {**body, "confirmed": "on"})
    assert saved.versions("mine")[0].origin == "imported"
    assert Run.objects.get().scenario == "mine"


@pytest.mark.parametrize("raw", [b"\xff\xfe\x00", b"x" * 300_000, b"a = [", b""])
def test_an_import_that_is_no_scenario_says_so(client: Client, raw: bytes) -> None:
    answer = client.post("/scenarios/import/", {"file": SimpleUploadedFile("x.toml", raw)})
    assert answer.status_code == 400 and "problem" in _page(answer)


def test_an_export_is_what_can_be_imported(client: Client) -> None:
    for name, scenario in list(catalogue.scenarios().items())[:10]:
        exported = client.get(f"/scenarios/{name}/toml")
        assert exported["Content-Disposition"] == f'attachment; filename="{name}.toml"'
        assert Scenario.read(exported.content.decode()) == scenario


def test_the_check_keeps_tree_and_text_in_step(client: Client) -> None:
    tree = (
        '{"name": "x", "question": "q", "script": "delegate-one", "faults": [{"fault": "stall"}]}'
    )
    answer = client.post("/scenarios/check/", {"tree": tree}).json()
    assert answer["valid"] and 'fault = "stall"' in answer["toml"] and "✂ stall" in answer["plan"]
    again = client.post("/scenarios/check/", {"toml": answer["toml"]}).json()
    assert again["tree"] == answer["tree"]


@pytest.mark.parametrize(
    "body",
    [
        {"tree": "[" * 100_000},
        {"tree": "3"},
        {"tree": '{"a": ' + "[" * 60 + "]" * 60 + "}"},
        {"toml": "x = nan"},
        {"toml": "x = 2020-01-01", "press": "child/0/1"},
        {"toml": TEXT, "press": "child:999999/0/1"},
        {"toml": TEXT, "mend": "child:1/0/1@99999999"},
        {"toml": "faults = 3", "press": "child/0/1"},
        {"toml": "[[faults]]\non = 3", "mend": "child/0/1@0"},
        {},
    ],
)
def test_the_check_survives_anything(client: Client, body: dict[str, str]) -> None:
    answer = client.post("/scenarios/check/", body)
    assert answer.status_code == 200 and "problems" in answer.json()


def test_what_a_scenario_says_is_never_markup(client: Client) -> None:
    evil = "</textarea><script>alert(1)</script>"
    text = TEXT.replace("Why?", evil) + f"title = '{evil}'\nreports = ['{evil}', 'a/b#1']\n"
    saved.save(text)
    for path in ("mine/", "mine/edit", ""):
        assert "<script>alert" not in _page(client.get(f"/scenarios/{path}"))
    assert "<script>alert" not in _page(client.post("/scenarios/import/", {"toml": text}))


def test_the_api_takes_a_saved_scenario_and_names_the_nearest(client: Client) -> None:
    saved.save(TEXT)
    body = {"agent": "reference@1.1.0", "scenario": "mine"}
    made = client.post("/api/runs", body, content_type="application/json")
    assert made.status_code == 201
    body["scenario"] = "mien"
    refused = client.post("/api/runs", body, content_type="application/json")
    assert refused.status_code == 404 and "'mine'" in refused.json()["error"]["do"]


@pytest.mark.parametrize("which", ["broken", "holds"])
def test_every_law_has_an_example_that_can_be_started(client: Client, which: str) -> None:
    for law in catalogue.laws():
        answer = client.post(f"/laws/{law}/example/", {"which": which})
        assert answer.status_code == 302, law
    misbehave = [run.options["misbehave"] for run in Run.objects.all()]
    nothing = catalogue.driver("reference").read_options({})["misbehave"]
    assert len(misbehave) == len(catalogue.laws())
    assert {each != nothing for each in misbehave} == {which == "broken"}


def test_every_fault_has_an_example_that_uses_it(client: Client) -> None:
    for name in catalogue.faults():
        assert client.post(f"/faults/{name}/example/").status_code == 302, name
        faults = [item["fault"] for item in Run.objects.latest("id").snapshot.get("faults", [])]
        assert name in faults or name == "success"
    assert client.post("/laws/L99/example/", {"which": "broken"}).status_code == 404


def test_deleting_forgets_a_saved_one_and_never_a_shipped_one(client: Client) -> None:
    saved.save(TEXT)
    client.post("/scenarios/mine/delete/")
    assert saved.names() == []
    assert client.get("/scenarios/mine/").status_code == 404
    assert client.post("/scenarios/sse-cut/delete/").status_code == 404


def test_a_miniature_draws_long_waits_short() -> None:
    for scenario in catalogue.scenarios().values():
        drawn = sketch.miniature(scenario)
        right = max(square["x"] + square["w"] for square in drawn["squares"])
        assert right <= drawn["width"] <= 22 * 30, scenario.name
