"""Sweeps and bisections on their pages and over the API: forms, progress, steering, steps."""

from __future__ import annotations

import json
from typing import Any

import pytest
from django.test import Client

from dashboard.tests.test_matrix import text_of
from runs import binaries, bisections, models, sweeps
from runs.models import Run, Sweep
from runs.packages import Published

pytestmark = pytest.mark.django_db
FORM = {"agents": "reference@0.9.0..1.0.0", "scenarios": "success, sse-cut", "repeat": "2"}
BISECT = {
    "agent": "reference",
    "good": "0.4.1",
    "bad": "0.6.1",
    "scenario": "sse-cut",
    "look": "law:L2",
    "repeat": "1",
}


def answer_for(run: Run, diagnosis: str, broken: str = "") -> None:
    fields: dict[str, Any] = {"status": "ended", "outcome": "completed", "diagnosis": diagnosis}
    Run.objects.filter(pk=run.pk).update(**fields, broken=broken)
    verdict = "broken" if broken else "holds"
    models.Finding.objects.create(run=run, law="L2", verdict=verdict, agent="a")


def test_the_form_says_first_what_it_would_start(client: Client) -> None:
    plan = client.get("/sweeps/plan/", FORM)
    assert "2 versions × 2 scenarios × 2 = 8 runs" in text_of(plan)
    plan = client.get("/sweeps/plan/", {**FORM, "agents": "nope@1"})
    assert "no agent" in text_of(plan)


def test_a_sweep_says_what_it_left_out_and_why(client: Client) -> None:
    client.post("/sweeps/", FORM | {"scenarios": "success, runner-gone", "repeat": "1"})
    sweep = Sweep.objects.get()
    shown = text_of(client.get(f"/sweeps/{sweep.permalink}/"))
    assert sweep.runs.count() == 2 and "2 cells left out" in shown
    assert "runner-gone has no meaning for Reference agent: it has a meaning only for" in shown


def test_a_sweep_is_started_shown_paused_resumed_and_cancelled(client: Client) -> None:
    started = client.post("/sweeps/", FORM)
    sweep = Sweep.objects.get()
    address = f"/sweeps/{sweep.permalink}/"
    assert started["Location"] == address and sweep.runs.count() == 8
    answer_for(sweep.runs.first(), "healthy")  # type: ignore[arg-type]
    for page in (client.get(address), client.get(f"{address}parts/")):
        assert "1 of 8 runs ended" in text_of(page) and "healthy 1/1" in text_of(page)
    assert "manage.py sweep --agents reference@0.9.0,1.0.0" in text_of(client.get(address))
    assert "| reference 0.9.0 | success | 1 | healthy |" in client.get(address).content.decode()
    for do, state in (("pause", "paused"), ("resume", "going"), ("cancel", "cancelled")):
        assert client.post(f"{address}steer/", {"do": do})["Location"] == address
        sweep.refresh_from_db()
        assert sweep.state == state
    assert sweep.runs.filter(status="cancelled").count() == 7
    assert "Run what is missing" in text_of(client.get(address))
    assert sweep.permalink in client.get("/sweeps/").content.decode()


@pytest.mark.parametrize(
    "wrong",
    [
        {"agents": "nope@1"},
        {"scenarios": "/etc/passwd"},
        {"repeat": "0"},
        {"agents": ""},
        {"agents": "reference@9.."},
    ],
)
def test_a_wrong_form_says_why_and_starts_nothing(client: Client, wrong: dict[str, str]) -> None:
    answer = client.post("/sweeps/", FORM | wrong)
    assert answer.status_code == 400 and answer.context["trouble"]
    assert not Sweep.objects.exists() and not Run.objects.exists()


def test_the_plan_names_versions_without_a_package_for_this_platform(
    client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    listed = [Published("1.0.0"), Published("1.0.1", here=False)]
    monkeypatch.setattr(binaries, "versions", lambda *_, **__: listed)
    plan = client.get("/sweeps/plan/", FORM | {"agents": "reference@1.0.0..1.0.1"})
    assert "no package for this platform: reference 1.0.1" in text_of(plan)


def test_the_plan_counts_nothing_that_has_no_meaning(client: Client) -> None:
    asked = {"agents": "reference@1.0.0", "scenarios": "success,runner-gone", "repeat": "2"}
    said = text_of(client.get("/sweeps/plan/", FORM | asked))
    assert "(1 version × 2 scenarios − 1 without a meaning) × 2 = 2 runs" in said


def test_a_cancelled_sweep_says_how_far_it_came(client: Client) -> None:
    client.post("/sweeps/", FORM)
    sweep = Sweep.objects.get()
    first = sweep.runs.order_by("pk").first()
    assert first is not None
    answer_for(first, "healthy")
    client.post(f"/sweeps/{sweep.permalink}/steer/", {"do": "cancel"})
    text = text_of(client.get(f"/sweeps/{sweep.permalink}/"))
    assert "1 of 8 runs ended, 7 cancelled" in text and "Run what is missing" in text


def test_the_command_carries_what_was_set(client: Client) -> None:
    sets = {"agents.reference.seed": "7", "text": "two words"}
    sweep = sweeps.create([("reference", "1.0.0")], ["success"])
    Sweep.objects.filter(pk=sweep.pk).update(plan={**sweep.plan, "sets": sets})
    page = client.get(f"/sweeps/{sweep.permalink}/")
    words = "--scenarios success --set agents.reference.seed=7 --set 'text=two words'"
    assert page.context["command"].endswith(words)
    more = sweeps.create([("reference", "1.0.0")], ["success"], repeat=2, only_missing=True)
    page = client.get(f"/sweeps/{more.permalink}/")
    assert page.context["command"].endswith("--repeat 2 --only-missing")


def test_nothing_missing_makes_no_sweep(client: Client) -> None:
    Run.objects.create(agent="reference", version="1.0.0", scenario="success", status="ended")
    fields = {"agents": "reference@1.0.0", "scenarios": "success", "repeat": "1"}
    answer = client.post("/sweeps/", {**fields, "only_missing": "1"})
    assert answer.status_code == 400 and "Nothing is missing" in text_of(answer)
    assert not Sweep.objects.exists()


def test_a_bisection_shows_every_step_and_its_answer(client: Client) -> None:
    started = client.post("/bisects/", BISECT)
    sweep = Sweep.objects.get()
    address = f"/bisects/{sweep.permalink}/"
    assert "reference 0.4.1 … 0.6.1: L2 broken" in text_of(client.get(address))
    assert started["Location"] == address and "now at 0.4.1" in text_of(client.get(address))
    for _ in range(20):
        for run in sweep.runs.filter(status__in=Run.OPEN):
            is_bad = run.version >= "0.6.0"
            name = "cut_stream_false_completion" if is_bad else "healthy"
            answer_for(run, name, " L2 " if is_bad else "")
        sweeps.advance(sweep)
        sweep.refresh_from_db()
        if sweep.result.get("verdict"):
            break
    text = text_of(client.get(address))
    assert "reference 0.6.0 is the first version that shows law:L2" in text
    assert "0 of 3" in text and "3 of 3" in text and "Compare a run of each" in text
    assert "manage.py bisect reference --good 0.4.1 --bad 0.6.1" in text
    assert "cannot" not in text_of(client.get(f"{address}parts/"))
    assert client.get(f"/api/bisects/{sweep.permalink}").json()["first"] == "0.6.0"
    assert client.get(f"/sweeps/{sweep.permalink}/").status_code == 404


def test_a_bisection_that_a_network_ended_can_be_tried_again(client: Client) -> None:
    client.post("/bisects/", BISECT)
    sweep = Sweep.objects.get()
    address = f"/bisects/{sweep.permalink}/"
    trouble = {"what": "The registry cannot be reached."}
    sweep.runs.update(status="errored", error=trouble)
    sweeps.advance(sweep)
    page = text_of(client.get(address))
    assert "It cannot be told" in page and "registry cannot be reached" in page
    assert "Try again" in page and "no answer" in page
    client.post(f"/sweeps/{sweep.permalink}/steer/", {"do": "resume"})
    assert "now at 0.4.1" in text_of(client.get(address))
    assert sweep.runs.filter(status="queued").count() == 3


@pytest.mark.parametrize(
    "wrong", [{"look": "nonsense here"}, {"good": "9.9.9"}, {"bad": "0.4.1"}, {"agent": "nope"}]
)
def test_a_wrong_bisection_says_why(client: Client, wrong: dict[str, str]) -> None:
    answer = client.post("/bisects/", BISECT | wrong)
    assert answer.status_code == 400 and answer.context["trouble"]
    assert not Sweep.objects.exists()


def test_a_look_that_would_act_is_shown_as_text(client: Client) -> None:
    sweep = bisections.create("reference", "0.4.1", "0.6.1", "sse-cut", "law:L2")
    sweep.search["look_for"] = "<script>alert(1)</script>\u202e"
    sweep.result = {"verdict": "cannot-tell", "reason": "<script>alert(1)</script>\u202e"}
    sweep.save()
    for address in (f"/bisects/{sweep.permalink}/", "/sweeps/"):
        text = client.get(address).content.decode()
        assert "<script>alert" not in text and "\u202e" not in text


def test_the_api_starts_reads_and_steers(client: Client) -> None:
    def send(address: str, **body: Any) -> Any:
        return client.post(address, json.dumps(body), content_type="application/json")

    made = send("/api/sweeps", agents="reference@1.0.0", scenarios="success")
    assert made.status_code == 201 and made.json()["total"] == 1
    address = f"/api/sweeps/{made.json()['permalink']}"
    assert send(address, do="cancel").json()["state"] == "cancelled"
    assert client.get(address).json()["cells"] == []
    assert send("/api/sweeps", agents="reference", scenarios="../x").status_code == 409
    assert send("/api/bisects", **{**BISECT, "repeat": 1, "look": "x"}).status_code == 409
    assert send("/api/bisects", **{**BISECT, "repeat": 1}).status_code == 201
