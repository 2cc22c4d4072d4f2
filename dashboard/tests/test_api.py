"""The API: what it takes, what it gives, and how its trouble reads."""

from __future__ import annotations

import json
from typing import Any

import jsonschema
import pytest
from django.test import Client

from runs.models import Event, Run

JSON = "application/json"


def _post(client: Client, address: str, body: Any) -> Any:
    return client.post(address, json.dumps(body), content_type=JSON)


@pytest.fixture(scope="module")
def description() -> dict[str, Any]:
    from dashboard.api import api

    return json.loads(json.dumps(api.get_openapi_schema()))


def _check(description: dict[str, Any], name: str, document: Any) -> None:
    """The document is what the description says under that name."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": description["components"]}
    jsonschema.validate(document, schema)


@pytest.mark.django_db
def test_its_description_names_every_operation(client: Client) -> None:
    found = client.get("/api/openapi.json").json()
    operations = {
        (method.upper(), path) for path, entry in found["paths"].items() for method in entry
    }
    assert operations >= {
        ("POST", "/api/runs"),
        ("GET", "/api/runs"),
        ("GET", "/api/runs/{permalink}"),
        ("GET", "/api/runs/{permalink}/events"),
        ("GET", "/api/runs/{permalink}/timeline"),
        ("POST", "/api/runs/{permalink}/cancel"),
        ("POST", "/api/runs/{permalink}/again"),
    }


@pytest.mark.django_db
def test_it_starts_runs(client: Client, description: dict[str, Any]) -> None:
    body = {"agent": "reference@1.0.0", "scenario": "sse-cut", "repeat": 2, "expect": "completed"}
    answer = _post(client, "/api/runs", body)
    assert answer.status_code == 201
    _check(description, "StartOut", answer.json())
    made = answer.json()["runs"]
    assert [run["status"] for run in made] == ["queued", "queued"]
    assert set(Run.objects.values_list("version", "expect")) == {("1.0.0", "completed")}


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "status", "named"),
    [
        ({"agent": "nobody", "scenario": "sse-cut"}, 404, "nobody"),
        ({"agent": "reference", "scenario": "no-such"}, 404, "no-such"),
        ({"agent": "reference", "scenario": "runs/scenarios/sse-cut.toml"}, 404, "sse-cut.toml"),
        ({"agent": "reference@../x", "scenario": "sse-cut"}, 404, "../x"),
        ({"agent": "reference", "scenario": "sse-cut", "repeat": 0}, 422, "repeat"),
        ({"agent": "reference", "scenario": "sse-cut", "sets": {"nope.x": 1}}, 422, "nope"),
        ({"agent": "reference", "scenario": "sse-cut", "path": "/bin/sh"}, 422, "path"),
        ({"agent": "reference"}, 422, "scenario"),
        ([], 422, "body"),
    ],
)
def test_trouble_names_the_thing(
    client: Client, description: dict[str, Any], body: Any, status: int, named: str
) -> None:
    answer = _post(client, "/api/runs", body)
    assert answer.status_code == status, answer.content
    _check(description, "ErrorOut", answer.json())
    assert named in answer.json()["error"]["what"]
    assert not Run.objects.exists()


@pytest.mark.django_db
def test_a_body_that_is_no_json_is_said_so(client: Client) -> None:
    answer = client.post("/api/runs", "{", content_type=JSON)
    assert answer.status_code == 400 and "error" in answer.json()


@pytest.mark.django_db
def test_it_reads_a_run_as_reproduce_prints_it(
    client: Client, cut: Run, description: dict[str, Any]
) -> None:
    document = client.get(f"/api/runs/{cut.permalink}").json()
    _check(description, "Document", document)
    assert document["outcome"] == "model-request-failed"
    assert [row["caller"] for row in document["attempts"]].count("child:1") == 6
    assert {row["law"] for row in document["findings"]} == {"L1", "L2", "L3", "L6", "L13"}


@pytest.mark.django_db
def test_it_lists_and_filters(client: Client, cut: Run, description: dict[str, Any]) -> None:
    Run.objects.create(agent="codex", version="1")
    listed = client.get("/api/runs", {"q": "law:L3 nope:x"}).json()
    _check(description, "RunsOut", listed)
    assert [run["permalink"] for run in listed["runs"]] == [cut.permalink]
    assert listed["runs"][0]["broken"] == ["L2", "L3", "L6"]
    assert listed["next"] is None and "nope" in listed["problems"][0]


@pytest.mark.django_db
def test_its_events_page_by_number_without_holes(
    client: Client, cut: Run, description: dict[str, Any]
) -> None:
    seen: list[int] = []
    after: int | None = 0
    while after is not None:
        page = client.get(f"/api/runs/{cut.permalink}/events", {"after": after, "limit": 7}).json()
        _check(description, "EventsOut", page)
        seen += [event["seq"] for event in page["events"]]
        after = page["next"]
    assert seen == sorted(Event.objects.filter(run=cut).values_list("seq", flat=True))
    wrong = client.get(f"/api/runs/{cut.permalink}/events", {"limit": 100_000})
    assert wrong.status_code == 422 and "limit" in wrong.json()["error"]["what"]


@pytest.mark.django_db
def test_it_gives_the_timeline(client: Client, cut: Run) -> None:
    timeline = client.get(f"/api/runs/{cut.permalink}/timeline").json()
    assert {"duration", "ended", "lanes", "samples"} <= set(timeline)
    assert any(lane["kind"] == "agent" for lane in timeline["lanes"])


@pytest.mark.django_db
def test_it_cancels_and_runs_again(client: Client, cut: Run, going: Run) -> None:
    cancelled = client.post(f"/api/runs/{going.permalink}/cancel", "{}", content_type=JSON)
    assert cancelled.status_code == 200
    going.refresh_from_db()
    assert going.cancel_at
    again = _post(client, f"/api/runs/{cut.permalink}/again", {"version": "1.0.102"})
    assert again.status_code == 201 and again.json()["version"] == "1.0.102"


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/api/runs", "/api/sweeps", "/api/imports"])
def test_a_body_that_is_no_json_is_said_with_what_to_do(client: Client, address: str) -> None:
    answer = client.post(address, "{", content_type=JSON)
    assert 400 <= answer.status_code < 500
    assert "openapi.json" in answer.json()["error"]["do"]


@pytest.mark.django_db
def test_an_unknown_run_is_said_as_json(client: Client) -> None:
    for rest in ("", "/events", "/timeline"):
        answer = client.get(f"/api/runs/AAAAAAAAAAAAAAAA{rest}")
        assert answer.status_code == 404
        assert answer.json()["error"] == {
            "what": "There is no such run.",
            "do": "GET /api/runs lists them.",
        }
