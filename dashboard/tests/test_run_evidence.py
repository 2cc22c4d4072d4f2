"""What stands behind a run's page: its events, raw lines, bodies and archive."""

from __future__ import annotations

import io
import json
import zipfile
from typing import Any

import pytest
from django.test import Client

from dashboard import listing
from dashboard.tests.factory import CHILD
from runs import store
from runs.models import Event, Run


def _address(run: Run, rest: str = "") -> str:
    return f"/runs/{run.permalink}/{rest}"


@pytest.mark.django_db
def test_events_come_in_pages_that_join_without_holes(client: Client, cut: Run) -> None:
    pages, after = [], 0
    while True:
        page = listing.listing(cut, after=after, limit=10)
        pages += [row.seq for row in page.rows]
        if not page.more:
            break
        after = page.last
    shown = Event.objects.filter(run=cut).exclude(kind__in=listing.HIDDEN)
    assert pages == sorted(shown.values_list("seq", flat=True))


@pytest.mark.django_db
def test_the_events_filter_works_without_javascript(client: Client, cut: Run) -> None:
    def seen(query: str) -> set[str]:
        page = client.get(_address(cut), {"events": query}).context["events"]
        return {row.kind for row in page.rows}

    assert seen("kind:fault.fired") == {"fault.fired"}
    assert seen("kind:request") == {"request.received", "request.ended"}
    assert seen("kind:process.sample") == {"process.sample"}
    assert "request.received" not in seen("-source:provider")
    assert seen("agent:root kind:notice") == {"notice.delivered"}
    assert seen("retried") == {"error"}


@pytest.mark.django_db
def test_an_event_shows_parsed_raw_and_bodies(client: Client, cut: Run) -> None:
    row = Event.objects.filter(run=cut, kind="request.received", agent=CHILD).first()
    assert row is not None
    answer = client.get(_address(cut, f"events/{row.seq}/"))
    assert [body["title"] for body in answer.context["bodies"]] == ["request", "response"]
    text = answer.content.decode()
    assert "&lt;b&gt;hi&lt;/b&gt;" in text and "provider.jsonl:" in text
    assert client.get(_address(cut, "events/99999/")).status_code == 404


@pytest.mark.django_db
@pytest.mark.parametrize("rest", ["events/20/raw", "bodies/r3.request.json"])
def test_raw_data_is_an_attachment_that_no_browser_interprets(
    client: Client, cut: Run, rest: str
) -> None:
    answer = client.get(_address(cut, rest))
    assert answer.status_code == 200
    assert answer["Content-Type"] == "application/octet-stream"
    assert answer["Content-Disposition"].startswith("attachment;")
    assert answer["X-Content-Type-Options"] == "nosniff"
    assert "sandbox" in answer["Content-Security-Policy"]


@pytest.mark.django_db
@pytest.mark.parametrize(
    "name", ["../sources/stdout.jsonl", "..%2f..%2fsecret-key", ".hidden", "none", "a" * 200]
)
def test_a_body_is_only_found_in_the_runs_own_folder(client: Client, cut: Run, name: str) -> None:
    assert client.get(_address(cut, f"bodies/{name}")).status_code == 404


@pytest.mark.django_db
def test_the_raw_line_comes_byte_for_byte(client: Client, cut: Run) -> None:
    row = Event.objects.get(run=cut, seq=20)
    content = (store.folder(cut) / "sources" / row.file).read_bytes()
    answer = client.get(_address(cut, "events/20/raw"))
    assert answer.content == content[row.offset : row.offset + row.length]


@pytest.mark.django_db
def test_the_archive_holds_every_source_with_its_hash(client: Client, cut: Run) -> None:
    import hashlib

    archive = client.get(_address(cut, "archive"))
    assert archive["Content-Type"] == "application/zip"
    data = archive.getvalue()
    with zipfile.ZipFile(io.BytesIO(data)) as packed:
        manifest = json.loads(packed.read("manifest.json"))
        for file in manifest["files"]:
            content = packed.read(file["path"])
            assert len(content) == file["bytes"]
            assert hashlib.sha256(content).hexdigest() == file["sha256"]
    paths = {file["path"] for file in manifest["files"]}
    assert {"sources/stdout.jsonl", "sources/provider.jsonl", "bodies/r2.request.json"} <= paths
    assert manifest["lifeline"] == 1 and manifest["scenario"]["name"] == "sse-cut"


@pytest.mark.django_db
def test_a_page_of_a_long_run_costs_a_bounded_number_of_queries(
    client: Client, cut: Run, django_assert_max_num_queries: Any
) -> None:
    with django_assert_max_num_queries(12):
        client.get(_address(cut))
