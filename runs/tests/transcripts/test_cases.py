"""Each case folder, judged by the command's own function, against its expectation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from runs.management.commands.judge import judge_paths
from runs.tests.transcripts.helpers import CASES, OWN

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module", params=[*CASES, *OWN], ids=lambda path: path.name)
def judged(request: pytest.FixtureRequest) -> tuple[dict[str, Any], dict[str, Any]]:
    folder: Path = request.param
    expected = json.loads((folder / "expected.json").read_text())
    return expected, judge_paths([str(folder)])


def _broken(found: dict[str, Any]) -> list[tuple[str, str, set[str]]]:
    return [
        (row["law"], row["agent"], set(row["evidence"]))
        for row in found["findings"]
        if row["verdict"] == "broken"
    ]


def test_it_finds_each_violation_with_its_agent_and_evidence(
    judged: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    expected, found = judged
    for violation in expected["violations"]:
        assert any(
            law == violation["law"]
            and agent == violation["agent"]
            and evidence & set(violation.get("evidence", evidence))
            for law, agent, evidence in _broken(found)
        ), violation


def test_it_reports_nothing_else(judged: tuple[dict[str, Any], dict[str, Any]]) -> None:
    expected, found = judged
    wanted = {(row["law"], row["agent"]) for row in expected["violations"]}
    extra = expected.get("allowed_extra", [])
    alarms = [
        (law, agent)
        for law, agent, _ in _broken(found)
        if (law, agent) not in wanted
        and not any(words.split()[0] == law and agent in words for words in extra)
    ]
    assert alarms == []


def test_it_breaks_no_clean_law_and_holds_no_unknown_one(
    judged: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    expected, found = judged
    assert not {law for law, _, _ in _broken(found)} & set(expected.get("clean", []))
    held = {row["law"] for row in found["findings"] if row["verdict"] == "holds"}
    assert not held & set(expected.get("unknown", []))


def test_it_gives_the_diagnosis(judged: tuple[dict[str, Any], dict[str, Any]]) -> None:
    expected, found = judged
    assert found["diagnosis"] == expected["outcome"]


def test_it_recognises_every_input(judged: tuple[dict[str, Any], dict[str, Any]]) -> None:
    expected, found = judged
    formats = {row["path"]: row["format"] for row in found["formats"]}
    for wanted in expected["inputs"]:
        assert formats[wanted["path"]] == wanted["format"]
    assert formats["expected.json"] is None
    damage = {row["what"] for row in found["damage"]}
    assert damage == set(expected.get("damage", []))


def test_it_names_the_agents_with_parents_and_terminals(
    judged: tuple[dict[str, Any], dict[str, Any]],
) -> None:
    expected, found = judged
    agents = {row["id"]: row for row in found["agents"]}
    wanted = expected.get("agents", [])
    assert not wanted or set(agents) == {row["id"] for row in wanted}
    for row in wanted:
        assert agents[row["id"]]["parent"] == row["parent"]
        if "terminals" in row:
            assert agents[row["id"]]["terminals"] == row["terminals"]
        if row.get("true_end"):
            assert agents[row["id"]]["true_end"] == row["true_end"]
