"""Exports in other people's readers: OpenTelemetry's, HAR's, JUnit's and SARIF's libraries."""

from __future__ import annotations

import json

import pytest
from haralyzer import HarParser
from junitparser import Error, Failure, JUnitXml, Skipped
from opentelemetry.proto_json.collector.trace.v1.trace_service import ExportTraceServiceRequest
from sarif_pydantic import Sarif

from runs import export, imports, material, models
from runs.redact import Choice
from runs.tests.transcripts.helpers import RECORDED

CUT = RECORDED / "copilot/1.0.102/sse-cut"
pytestmark = [
    pytest.mark.django_db,
    pytest.mark.parametrize("level", ["structure", "full"]),
]


@pytest.fixture
def run(db: None) -> models.Run:
    return imports.store_paths([CUT])


def _written(run: models.Run, name: str, level: str) -> str:
    with export.render(export.named(name), material.of(run, Choice.of(level))) as found:
        return found.read().decode()


def test_a_collector_takes_the_trace(run: models.Run, level: str) -> None:
    asked = ExportTraceServiceRequest.from_json(_written(run, "otlp", level))
    spans = [
        span
        for resource in asked.resource_spans
        for scope in resource.scope_spans
        for span in scope.spans
    ]
    ids = {span.span_id for span in spans}
    assert len(ids) == len(spans) >= 8
    assert {len(span.span_id) for span in spans} == {8}
    assert {len(span.trace_id) for span in spans} == {16}
    assert {span.parent_span_id for span in spans} - ids == {b""}
    assert all(0 < one.start_time_unix_nano <= one.end_time_unix_nano for one in spans)
    names = {attribute.key for span in spans for attribute in span.attributes}
    assert "gen_ai.operation.name" in names


def test_a_har_library_takes_the_traffic(run: models.Run, level: str) -> None:
    har = HarParser(json.loads(_written(run, "har", level)))
    (page,) = har.pages
    requests = run.summary["attempt_count"]
    assert len(page.entries) == len(har.har_data["entries"]) == requests
    assert {entry.request.method for entry in page.entries} == {"POST"}
    assert all(entry.time >= 0 and entry.startTime for entry in page.entries)


def test_a_junit_library_takes_the_findings(run: models.Run, level: str) -> None:
    report = JUnitXml.fromstring(_written(run, "junit", level).encode())
    cases = [case for suite in report for case in suite]
    rows = models.Finding.objects.filter(run=run)
    results = [type(one) for case in cases for one in case.result]
    assert len(cases) == report.tests == rows.count()
    assert results.count(Failure) == report.failures == rows.filter(verdict="broken").count()
    assert results.count(Skipped) == rows.filter(verdict="unknown").count()
    assert Error not in results


def test_a_sarif_library_takes_the_findings(run: models.Run, level: str) -> None:
    log = Sarif.model_validate_json(_written(run, "sarif", level))
    (found,) = log.runs
    rows = models.Finding.objects.filter(run=run)
    assert found.results is not None and len(found.results) == rows.count()
    rules = {rule.id for rule in found.tool.driver.rules or ()}
    assert {one.rule_id for one in found.results} <= rules
    broken = [one for one in found.results if one.kind is None or str(one.kind) == "fail"]
    assert all(one.locations for one in broken)
