"""Every format opens in a consumer; an archive imports to the same judgement."""

from __future__ import annotations

import html
import io
import json
import xml.etree.ElementTree as xml
import zipfile
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from runs import export, imports, material, models, report, sayings, verdict
from runs.exports.html import ticks
from runs.redact import Choice
from runs.tests.exports.schemas import CHROME, HAR, OTLP, SARIF
from runs.tests.imports.test_imports import verdicts
from runs.tests.transcripts.helpers import CASES, RECORDED
from runs.transcript import read_case

CUT = RECORDED / "copilot/1.0.102/sse-cut"


@pytest.fixture
def run(db: None) -> models.Run:
    return imports.store_paths([CUT])


def written(run: models.Run, name: str, level: str = "structure") -> bytes:
    made = material.of(run, Choice.of(level))
    with export.render(export.named(name), made) as found:
        return found.read()


@pytest.mark.parametrize(
    ("name", "schema"), [("sarif", SARIF), ("otlp", OTLP), ("chrome-trace", CHROME), ("har", HAR)]
)
@pytest.mark.parametrize("level", ["structure", "full"])
def test_it_keeps_to_its_schema(run: models.Run, name: str, schema: Any, level: str) -> None:
    document = json.loads(written(run, name, level))
    jsonschema.Draft202012Validator(schema).validate(document)


@pytest.mark.parametrize(
    ("name", "format", "least"), [("otlp", "otlp", 8), ("har", "har", 8)]
)  # fmt: skip
def test_a_reader_of_the_format_understands_it(
    run: models.Run, tmp_path: Path, name: str, format: str, least: int
) -> None:
    path = tmp_path / f"x.{export.named(name).suffix}"
    path.write_bytes(written(run, name))
    case = read_case([path])
    assert case.formats[0]["format"].startswith(format)
    assert case.formats[0]["events"] >= least and not case.damage


@pytest.mark.django_db
@pytest.mark.parametrize("level", ["full", "structure"])
@pytest.mark.parametrize("case", [*CASES[1::5], CUT], ids=lambda path: path.name)
def test_export_import_judge_is_a_fixed_point(case: Path, level: str) -> None:
    first = imports.store_paths([case])
    data = written(first, "archive", level)
    again, size = imports.receive([("run.zip", iter([data]))])
    second = imports.begin(again, size)
    assert (second.diagnosis, second.broken) == (first.diagnosis, first.broken)
    if level == "full":
        assert report.findings(second) == report.findings(first)
        assert _rows(second) == _rows(first)
    else:
        assert [row[:2] for row in verdicts(report.findings(second))] == [
            row[:2] for row in verdicts(report.findings(first))
        ]
    assert _without_times(written(second, "archive", level)) == _without_times(data)


def _rows(run: models.Run) -> list[tuple[Any, ...]]:
    names = [field.name for field in models.Event._meta.fields if field.name not in ("id", "run")]
    return list(models.Event.objects.filter(run=run).order_by("seq").values_list(*names))


def _without_times(data: bytes) -> Any:
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        events = [json.loads(line) for line in archive.read("events.jsonl").splitlines()]
        kept = ("seq", "t", "kind", "source", "line")
        return [tuple(event[key] for key in kept) for event in events]


def test_junit_says_what_is_broken_and_what_nobody_expected(run: models.Run) -> None:
    models.Run.objects.filter(pk=run.pk).update(scenario="sse-cut")
    run.refresh_from_db()
    suite = xml.fromstring(written(run, "junit")).find("testsuite")
    assert suite is not None
    broken = {(row["law"], row["agent"]) for row in report.findings(run)
              if row["verdict"] == "broken"}  # fmt: skip
    assert int(suite.get("failures", "")) == len(broken) == len(suite.findall("testcase/failure"))
    law, agent = sorted(broken)[0]
    models.Opinion.objects.create(run=run, law=law, agent=agent, word="by design")
    held = next(row for row in report.findings(run) if row["verdict"] == "holds")
    models.Opinion.objects.create(run=run, law=held["law"], agent=held["agent"], word="confirmed")
    suite = xml.fromstring(written(run, "junit")).find("testsuite")
    assert suite is not None
    skipped = [one.get("message", "") for one in suite.findall("testcase/skipped")]
    assert any(words.startswith("expected failure (by design)") for words in skipped)
    failures = [(one.get("type"), one.get("message", ""))
                for one in suite.findall("testcase/failure")]  # fmt: skip
    unexpected = [words for kind, words in failures if kind == "unexpected-pass"]
    assert unexpected and unexpected[0].startswith("expected to be broken (confirmed)")


def test_json_has_the_document_and_every_event(run: models.Run) -> None:
    document = json.loads(written(run, "json", "full"))
    assert document["findings"] == report.findings(run)
    assert [event["seq"] for event in document["events"]] == [
        *models.Event.objects.filter(run=run).order_by("seq").values_list("seq", flat=True)
    ]


def test_markdown_shows_each_breach_with_its_evidence(run: models.Run) -> None:
    text = written(run, "markdown", "full").decode()
    for row in report.findings(run):
        if row["verdict"] == "broken":
            assert f"**{row['law']}**" in text and row["evidence"][0]["ref"] in text
    evidence = [line for line in text.splitlines() if line.startswith("  - ")]
    assert not any("000000" in line or "= " in line for line in evidence)  # as people write it
    assert "| attempt | gap before |" in text and run.permalink in text


def test_markdown_says_of_attached_logs_only_what_they_say(run: models.Run) -> None:
    text = written(run, "markdown").decode()
    assert "outcome" not in text.partition("| agent |")[0] and "None" not in text
    assert "- read from `requests.jsonl`" in text


def test_the_page_says_events_in_words_and_keeps_their_data_behind_them(run: models.Run) -> None:
    text = written(run, "html", "full").decode()
    event = run.events.filter(kind="agent.started").first()
    assert event is not None
    says = html.escape(sayings.sentence(event.kind, event.data))
    assert f"<details><summary>{says}</summary><code>{{" in text
    assert "</b> :" not in text and "{&#x27;" not in text  # no agent, no Python


def test_what_a_person_said_leaves_with_its_note_and_link(run: models.Run) -> None:
    row = next(one for one in report.findings(run) if one["verdict"] == "broken")
    models.Opinion.objects.create(
        run=run, law=row["law"], agent=row["agent"], word="by design", note="They want it so.",
        link="https://example.com/1",
    )  # fmt: skip
    for name in ("markdown", "html"):
        text = written(run, name, "full").decode()
        said = text[text.index("by design") :][:80]
        assert "They want it so." in said and "https://example.com/1" in said


def test_rejudging_an_import_changes_nothing(run: models.Run) -> None:
    before = report.findings(run)
    verdict.rejudge(run)
    assert report.findings(run) == before and run.summary["intake"]["formats"]


@pytest.mark.parametrize(
    ("span", "moments"),
    [
        (15.1, [0, 5, 10, 15]),
        (0.3, [0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3]),
        (1000, [0, 300, 600, 900]),
    ],
)
def test_the_axis_of_a_page_has_round_moments(span: float, moments: list[float]) -> None:
    assert ticks(span) == pytest.approx(moments)
