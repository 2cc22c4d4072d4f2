"""Baselines: conditions on versions, races, what the environment spoiled, wrong files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from runs import baseline
from runs.errors import HarnessError


def cell(**fields: Any) -> dict[str, Any]:
    whole = {"agent": "copilot", "version": "1.0.85", "scenario": "sse-cut", "valid": 3}
    counts = {"outcomes": {"model-request-failed": 3}, "diagnoses": {"notice_lost": 3}}
    return {**whole, **counts, "broken": {"L3": 3}, **fields}


def entry(**fields: Any) -> dict[str, Any]:
    return {"agent": "copilot", "scenario": "sse-cut", **fields}


def words(entries: list[dict[str, Any]], one: dict[str, Any]) -> list[str]:
    return [row["words"] for row in baseline.compare(entries, [one])]


@pytest.mark.parametrize(
    ("condition", "version", "met"),
    [
        ("*", "1.0.85", True),
        ("1.0.85", "1.0.85", True),
        ("==1.0.85", "1.0.86", False),
        (">=1.0.73,<1.0.85", "1.0.81", True),
        (">=1.0.73,<1.0.85", "1.0.85", False),
        (">1.0.9", "1.0.10", True),
        ("<=1.0.84", "1.0.84-4", True),
    ],
)
def test_it_matches_versions(condition: str, version: str, met: bool) -> None:
    assert baseline.matches(condition, version) is met


def test_a_failure_that_nobody_expects_and_one_that_is_gone_both_differ() -> None:
    assert words([], cell()) == ["copilot@1.0.85 sse-cut: notice_lost, and nothing is expected."]
    gone = cell(diagnoses={"failed_and_reported": 3}, broken={})
    assert not words([], gone)
    assert words([entry(diagnosis="notice_lost")], gone)
    assert words([entry(broken=["L3"])], gone)
    assert not words([entry(diagnosis="notice_lost", broken=["L3"])], cell())


def test_a_race_may_end_in_one_of_several_ways() -> None:
    mixed = cell(diagnoses={"notice_lost": 2, "failed_and_reported": 1})
    known = ["notice_lost", "failed_and_reported"]
    assert not words([entry(diagnosis=known)], mixed)
    assert words([entry(diagnosis="notice_lost")], mixed)
    assert words([entry(diagnosis=known)], cell(diagnoses={"stall": 1, "notice_lost": 2}))


def test_what_the_environment_spoiled_is_neither_good_nor_bad() -> None:
    spoiled = {"outcomes": {"model-request-failed": 2, "startup-failed": 1}, "valid": 2}
    part = cell(**spoiled, diagnoses={"notice_lost": 2, "environment": 1})
    assert not words([entry(diagnosis="notice_lost", outcome="model-request-failed")], part)
    whole = cell(outcomes={"startup-failed": 3}, diagnoses={"environment": 3}, valid=0)
    assert words([], whole) == ["copilot@1.0.85 sse-cut: no run could be judged (startup-failed)."]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("nonsense", "cannot be read"),
        ("other = 1", "nothing else"),
        ("[[expect]]\nagent = 'copilot'", "'scenario'"),
        ("[[expect]]\nagent = 'a'\nscenario = 's'\ndiagnose = 'x'", "diagnosis"),
        ("[[expect]]\nagent = 'a'\nscenario = 's'\ndiagnosis = 'notice_lots'", "notice_lost"),
        ("[[expect]]\nagent = 'a'\nscenario = 's'\noutcome = ['complete']", "completed"),
        ("[[expect]]\nagent = 'a'\nscenario = 's'\nbroken = ['L99']", "L99"),
        ("[[expect]]\nagent = 'a'\nscenario = 's'\nversions = '>=1.0,<x'", "no condition"),
    ],
)
def test_it_says_what_is_wrong_in_a_file(tmp_path: Path, text: str, says: str) -> None:
    path = tmp_path / "expected.toml"
    path.write_text(text)
    with pytest.raises(HarnessError, match=says):
        baseline.load(str(path))
