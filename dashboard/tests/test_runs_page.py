"""`/`: starting runs and the list."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from dashboard import rows
from dashboard.pulse import pulse
from dashboard.tests import factory
from dashboard.tests.factory import HOSTILE
from runs.models import Event, Run, Worker

START = {"agent": "reference", "version": "", "scenario": "sse-cut", "repeat": "1"}


def _text(answer: Any) -> str:
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", answer.content.decode()))


@pytest.mark.django_db
def test_an_empty_list_says_what_this_is_and_offers_one_press(client: Client) -> None:
    text = client.get("/").content.decode()
    assert "real binary" in text and "Cut a stream of the reference agent" in text
    answer = client.post("/", START)
    run = Run.objects.get()
    assert answer["Location"] == f"/runs/{run.permalink}/"
    assert (run.agent, run.scenario, run.status) == ("reference", "sse-cut", "queued")


@pytest.mark.django_db
def test_repeats_lead_to_their_batch(client: Client) -> None:
    answer = client.post("/", {**START, "repeat": "3"})
    assert Run.objects.count() == 3
    listed = client.get(answer["Location"])
    assert len(listed.context["page"].rows) == 3


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("wrong", "named"),
    [
        ({"agent": "nobody"}, "agent"),
        ({"scenario": "../../etc/passwd"}, "scenario"),
        ({"version": "1.0; rm -rf /"}, "version"),
        ({"version": "../1.0"}, "version"),
        ({"repeat": "0"}, "repeat"),
        ({"repeat": "101"}, "repeat"),
    ],
)
def test_a_wrong_field_is_named_and_nothing_starts(
    client: Client, wrong: dict[str, str], named: str
) -> None:
    answer = client.post("/", {**START, **wrong})
    assert answer.status_code == 400
    assert f"{named}:" in _text(answer)
    assert not Run.objects.exists()


@pytest.mark.django_db
def test_the_address_fills_in_the_form(client: Client) -> None:
    text = client.get("/?agent=reference&version=1.0.0&scenario=success").content.decode()
    assert '<option value="reference" selected>' in text and 'value="1.0.0"' in text
    assert re.search(r'<option value="success"[^>]* selected>', text)


@pytest.mark.django_db
def test_an_agent_is_offered_with_a_scenario_that_it_can_be_put_through(client: Client) -> None:
    text = client.get("/?agent=client").content.decode()
    assert re.search(r'<option value="client-[a-z-]+"[^>]* selected>', text)
    text = client.get("/?agent=reference").content.decode()
    assert re.search(r'<option value="sse-cut"[^>]* selected>', text)


@pytest.mark.django_db
def test_a_row_says_what_happened_in_one_line(client: Client, cut: Run) -> None:
    text = _text(client.get("/rows/"))
    expected = "copilot 1.0.81 · sse-cut model-request-failed false completion 6 attempts in 5.06 s"
    assert expected in text
    assert "L2 L3 L6" in text


@pytest.mark.django_db
def test_a_retrying_run_says_so_in_its_row(going: Run) -> None:
    assert pulse(going).words == "attempt 2"
    newest = Event.objects.filter(run=going).order_by("-seq")[0]
    Event.objects.create(
        run=going,
        seq=newest.seq + 1,
        t=3.1,
        kind="model.retry",
        source="stdout",
        file="stdout.jsonl",
        data={"attempt": 3, "of": 6, "delay": 60.0},
    )
    assert re.fullmatch(r"attempt 3 of 6, next in \d+\.\d s", pulse(going).words)


@pytest.mark.django_db
def test_a_silent_run_says_for_how_long_of_what(going: Run) -> None:
    Run.objects.filter(pk=going.pk).update(started_at=timezone.now() - timedelta(seconds=43))
    Event.objects.filter(run=going, kind="request.received").delete()
    going.refresh_from_db()
    said = re.fullmatch(r"silent (\d+) s of (\d+) s", pulse(going).words)
    assert said and 40 <= int(said[1]) <= 60 and int(said[2]) == 178


@pytest.mark.django_db
def test_a_queued_run_says_its_place_and_that_nobody_listens(client: Client) -> None:
    for n in range(3):
        Run.objects.create(agent="codex", version=str(n), status="queued")
    text = _text(client.get("/"))
    assert "next in the queue, but no worker is listening" in text
    assert "3rd in the queue" in text and "python3 manage.py up" in text
    Worker.objects.create(name="w")
    text = _text(client.get("/"))
    assert "3rd in the queue" in text and "no worker" not in text.lower()


@pytest.mark.django_db
def test_chips_mirror_the_filter_and_each_can_be_taken_away(client: Client, cut: Run) -> None:
    text = client.get("/", {"q": "agent:copilot -law:L9"}).content.decode()
    assert 'href="?q=-law%3AL9"' in text and 'href="?q=agent%3Acopilot"' in text


@pytest.mark.django_db
def test_the_list_goes_on_by_an_id_and_not_by_an_offset(client: Client) -> None:
    Run.objects.bulk_create(factory.many_runs(rows.PAGE + 5))
    first = client.get("/")
    older = first.context["page"].older
    assert "before=" in older
    second = client.get(f"/{older}")
    assert len(second.context["page"].rows) == 5
    assert not second.context["page"].older


@pytest.mark.django_db
def test_a_row_escapes_what_an_agent_said(client: Client) -> None:
    run = Run.objects.create(agent="codex", version="1", status="running", phase=HOSTILE)
    Run.objects.create(agent="x", version="1", status="errored", error={"what": HOSTILE, "do": ""})
    for address in ("/", "/rows/"):
        text = client.get(address).content.decode()
        assert "<script>alert" not in text and "\u202e" not in text and "\x1b" not in text
    assert run.permalink in text


@pytest.mark.django_db
def test_imports_of_one_agent_are_told_apart_by_their_files(client: Client) -> None:
    for names in (["monday.jsonl"], ["tuesday.jsonl", "stderr.txt", HOSTILE]):
        intake = {"formats": [{"path": name} for name in names]}
        Run.objects.create(
            agent="copilot", version="1", kind="import", status="ended", summary={"intake": intake}
        )
    text = client.get("/").content.decode()
    assert "monday.jsonl</a>" in text and "tuesday.jsonl and 2 more</a>" in text


@pytest.mark.django_db
@pytest.mark.parametrize("before", ["x", "-1", "9" * 40, "1; drop"])
def test_a_wrong_page_is_no_error(client: Client, before: str) -> None:
    assert client.get("/", {"before": before}).status_code == 200


@pytest.mark.django_db
def test_theme_and_clock_are_remembered_without_javascript(client: Client) -> None:
    answer = client.post("/preferences/", {"theme": "dark", "next": "/?q=x"})
    assert answer["Location"] == "/?q=x"
    assert 'data-theme="dark"' in client.get("/").content.decode()
    client.post("/preferences/", {"clock": "utc", "theme": "<script>"})
    text = client.get("/").content.decode()
    assert 'data-theme="dark" data-clock="utc"' in text
