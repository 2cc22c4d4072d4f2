"""The matrix: cells in words, the address as the view, borders, what is missing, copies."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

import pytest
from django.test import Client
from django.utils.html import strip_tags

from dashboard.tests.factory import HOSTILE
from runs import grid
from runs.benches.matrix import generate
from runs.models import Run, Sweep

pytestmark = pytest.mark.django_db


def ended(version: str, scenario: str = "sse-cut", n: int = 1, **fields: Any) -> list[Run]:
    given = {
        "agent": "copilot",
        "version": version,
        "scenario": scenario,
        "status": "ended",
        "outcome": "model-request-failed",
        "diagnosis": "failed_and_reported",
        "exit_code": 0,
        "facts": {"attempts": 6, "gaps": [1.0, 1.1], "told": "failed", "slept": 5.0},
    }
    made = [Run.objects.create(**{**given, **fields}) for _ in range(n)]
    grid.refresh(made[0].agent, version, scenario)
    return made


def bad(version: str, **fields: Any) -> list[Run]:
    facts = {"attempts": 6, "gaps": [1.0, 1.1], "told": "idle", "slept": 5.0}
    given = {"diagnosis": "cut_stream_false_completion", "broken": " L2 ", "exit_code": 1}
    return ended(version, **{**given, "facts": facts, **fields})


def text_of(answer: Any) -> str:
    return re.sub(r"\s+", " ", strip_tags(answer.content.decode()))


def test_a_cell_says_how_often_what_came_of_it(client: Client) -> None:
    bad("1.0.81", n=2)
    ended("1.0.81")
    ended("1.0.81", outcome="guard-memory", diagnosis="environment")
    answer = client.get("/matrix/")
    text = text_of(answer)
    assert "false completion 2/3" in text and "false completion 2, failed and reported 1" in text
    assert "6 attempts · gaps 1.00–1.10 s" in text and "1 environment" in text
    assert 'class="mix"' in answer.content.decode()


def test_runs_of_the_environment_are_no_count(client: Client) -> None:
    ended("1.0.81", n=2, outcome="startup-failed", diagnosis="environment")
    assert "no verdict 0/2" in text_of(client.get("/matrix/"))
    ended("1.0.81")
    text = text_of(client.get("/matrix/"))
    assert "failed and reported 1/1" in text and "2 environment" in text


def test_imports_are_hatched(client: Client) -> None:
    bad("1.0.81", kind="import")
    text = client.get("/matrix/").content.decode()
    assert 'class="cell bad hatched"' in text and "all imported" in text


def test_a_border_carries_the_change_in_words(client: Client) -> None:
    bad("1.0.9")
    ended("1.0.10")
    text = text_of(client.get("/matrix/"))
    assert "1.0.9 → 1.0.10 schema drift sse-cut told the parent “idle” → “failed”" in text
    assert text.index("1.0.9 →") > text.index("false completion")
    flipped = client.get("/matrix/", {"order": "newest"}).context["blocks"][0]["rows"]
    assert [row["version"] for row in flipped] == ["1.0.10", "1.0.9"] and flipped[0]["borders"]
    drift = flipped[0]["borders"][0]["drift"]
    assert drift == "/drift/?agent=copilot&before=1.0.9&after=1.0.10"
    assert client.get(drift).status_code == 200


def test_imports_of_two_versions_are_no_change(client: Client) -> None:
    bad("1.0.81", kind="import", scenario="")
    ended("1.0.102", scenario="", kind="import")
    bad("", kind="import", scenario="")
    text = text_of(client.get("/matrix/?agent=copilot"))
    assert "1.0.102" in text and "no version" in text
    assert "→" not in text


def test_the_address_is_the_view(client: Client) -> None:
    for version in ("1.0.1", "1.0.2", "1.0.3"):
        ended(version)
    bad("1.0.2", scenario="stall")
    ended("1", agent="codex")
    view = client.get("/matrix/?agent=copilot&versions=1.0.2..&scenario=stall,sse-cut").context
    assert view["view"].scenarios == ["stall", "sse-cut"]
    assert [row["version"] for row in view["blocks"][0]["rows"]] == ["1.0.2", "1.0.3"]
    only = client.get("/matrix/?only=broken").context["view"]
    assert [(b.agent, b.versions) for b in only.blocks] == [("copilot", ["1.0.2"])]
    assert only.scenarios == ["stall"]


@pytest.mark.parametrize("query", ["versions=..&repeat=9999999", "only=x&agent=%00", "repeat=-1"])
def test_a_senseless_address_is_no_error(client: Client, query: str) -> None:
    ended("1.0.1")
    assert client.get(f"/matrix/?{query}").status_code == 200


def test_what_is_missing_can_be_run_from_here(client: Client) -> None:
    ended("0.9.0", agent="reference")
    query = {"agent": "reference", "versions": "0.9.0,1.0.0", "scenario": "sse-cut,success"}
    answer = client.get("/matrix/", query)
    assert "3 cells have no run yet: 3 runs, about" in text_of(answer)
    fields = {"agents": answer.context["missing_agents"], "scenarios": "sse-cut,success"}
    started = client.post("/sweeps/", {**fields, "repeat": "1", "only_missing": "1"})
    sweep = Sweep.objects.get()
    assert started["Location"] == f"/sweeps/{sweep.permalink}/" and sweep.runs.count() == 3


def test_it_can_be_copied_as_markdown_csv_and_json(client: Client) -> None:
    bad("1.0.81", n=3)
    ended("1.0.85", outcome="=cmd()")
    markdown = client.get("/matrix/matrix.md").content.decode()
    assert "| copilot 1.0.81 | sse-cut | 3 | false completion |" in markdown
    assert "1.0.81 → 1.0.85" in markdown
    rows = list(csv.DictReader(io.StringIO(client.get("/matrix/matrix.csv").content.decode())))
    assert rows[0]["diagnosis"] == "cut_stream_false_completion" and rows[0]["gaps"] == "1–1.1"
    assert rows[1]["outcome"] == "'=cmd()"
    document = client.get("/matrix/matrix.json").json()
    assert document == client.get("/api/matrix").json()
    assert document["cells"][0]["diagnoses"] == {"cut_stream_false_completion": 3}
    assert document["changes"][0]["after"] == "1.0.85"


def test_a_cells_card_names_its_last_runs(client: Client) -> None:
    (run,) = bad("1.0.81")
    query = {"agent": "copilot", "version": "1.0.81", "scenario": "sse-cut"}
    card = client.get("/matrix/cell/", {**query, "part": "1"}).content.decode()
    assert f"/runs/{run.permalink}/" in card and "<html" not in card
    page = client.get("/matrix/cell/", query).content.decode()
    assert "/matrix/badge.svg?" in page and "says it waited 5.00 s" in page
    badge = client.get("/matrix/badge.svg", query)
    assert badge["Content-Type"].startswith("image/svg+xml")
    assert "false completion 1/1" in badge.content.decode()
    assert client.get("/matrix/cell/?agent=no").status_code == 404


def test_foreign_text_does_not_act(client: Client) -> None:
    ended("1.0.81", outcome=HOSTILE[:40], diagnosis=HOSTILE[:40])
    ended("1.0.82", facts={"told": HOSTILE, "stdout": HOSTILE})
    query = {"agent": HOSTILE, "version": HOSTILE, "scenario": HOSTILE}
    pages = [client.get("/matrix/"), client.get("/matrix/badge.svg", query)]
    pages += [client.get("/matrix/cell/", query), client.get("/matrix/", query)]
    for page in pages:
        text = page.content.decode()
        assert "<script>alert" not in text and "\u202e" not in text and "\x1b" not in text
    copied = client.get("/matrix/matrix.md").content.decode()
    assert "<script>" not in copied and "@everyone" not in copied


def test_a_large_matrix_is_shown_whole_in_small_cells(client: Client) -> None:
    assert generate(versions=30, scenarios=20, repeats=4) == 600
    answer = client.get("/matrix/")
    assert answer.content.decode().count('<td class="cell') == 600
    assert 'class="grid small"' in answer.content.decode()
    assert "→ 1.0.12 schema drift scenario-00" in text_of(answer)
