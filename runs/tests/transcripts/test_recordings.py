"""Every reader on outputs of the real binaries, against the provider's log beside them."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from runs.core.events import KINDS, Kind
from runs.management.commands.judge import judge_paths
from runs.tests.transcripts.helpers import RECORDED
from runs.transcript import formats, read_case

ROOTS = sorted({path for group in RECORDED.iterdir() for path in group.iterdir()
                if list(path.glob("*.jsonl"))} | {path for path in RECORDED.glob("*/*/*")
                if list(path.glob("*.jsonl")) and path.name != "subagents"
                and path.name != "projects"})  # fmt: skip


def _judged(name: str) -> dict[str, Any]:
    return judge_paths([str(RECORDED / name)])


def _children(found: dict[str, Any]) -> list[dict[str, Any]]:
    return [row for row in found["agents"] if row["parent"] is not None]


def _requests(name: str) -> Counter[str]:
    path = RECORDED / name / "requests.jsonl"
    return Counter(json.loads(line)["role"] for line in path.read_text().splitlines() if line)


@pytest.mark.parametrize("folder", ROOTS, ids=lambda path: str(path.relative_to(RECORDED)))
def test_it_keeps_to_the_vocabulary_and_loses_no_line(folder: Path) -> None:
    case = read_case([folder])
    for event in case.events:
        unknown = set(event.data) - KINDS[event.kind].keys
        assert not unknown, (event.kind, unknown, event.ref)
    for row in case.formats:
        if row["format"] is None or formats()[row["format"]].whole:
            continue
        path = folder / row["path"]
        wanted = {
            number for number, line in enumerate(path.read_bytes().split(b"\n"), 1) if line.strip()
        }
        seen = {
            place.line
            for event in case.events
            for place in event.sightings
            if place.file == row["path"]
        }
        assert wanted <= seen, row["path"]
    assert not case.damage


@pytest.mark.parametrize(
    ("name", "terminals", "told", "end", "diagnosis"),
    [
        ("1.0.60/success", ["completed"], {"completed"}, "completed", "healthy"),
        ("1.0.60/sse-cut", ["failed"], {"completed"}, "failed", "cut_stream_false_completion"),
        ("1.0.81/sse-cut", ["completed"], {"idle"}, "failed", "cut_stream_false_completion"),
        ("1.0.81/topo-sync-cut", ["completed"], {"failed"}, "failed",
         "cut_stream_false_completion"),
        ("1.0.102/success", ["completed"], {"idle"}, "completed", "healthy"),
        ("1.0.102/sse-cut", ["failed"], set(), "failed", "notice_lost"),
        ("1.0.102/sub-http-429-ra2", ["failed"], set(), "failed", "notice_lost"),
    ],
)  # fmt: skip
def test_it_reads_copilot_of_each_version_alike(
    name: str, terminals: list[str], told: set[str], end: str, diagnosis: str
) -> None:
    found = _judged(f"copilot/{name}")
    (child,) = _children(found)
    assert child["terminals"] == terminals
    assert set(child["told"]) == told
    assert child["true_end"] == end
    assert found["diagnosis"] == diagnosis
    assert found["facts"]["version"] == name.split("/")[0]


@pytest.mark.parametrize(
    "name", ["1.0.60/sse-cut", "1.0.81/sse-cut", "1.0.102/sse-cut", "1.0.102/sub-http-429-ra2"]
)
def test_it_agrees_with_the_provider_on_the_childs_attempts(name: str) -> None:
    history = read_case([RECORDED / "copilot" / name]).history
    (child,) = history.children
    (call,) = history.calls_of(child.id)
    assert len(call.attempts) == _requests(f"copilot/{name}")["subagent"]
    claims = {event.get("retries") for event in history.of(Kind.RETRY_CLAIM)}
    assert claims == {len(call.attempts) - 1}
    started = [event for event in history.of(Kind.MODEL_STARTED) if event.agent == child.id]
    assert len(started) in (0, len(call.attempts))


def test_it_joins_stdout_and_session_into_one_fact_with_two_sightings() -> None:
    history = read_case([RECORDED / "copilot/1.0.102/topo-two-bg-one-fails"]).history
    ends = history.of(Kind.AGENT_ENDED)
    assert [event.get("status") for event in ends] == ["completed", "failed"]
    assert all({place.source for place in end.sightings} == {"session", "stdout"} for end in ends)
    assert len(history.of(Kind.SPAWN_REQUESTED)) == 2
    assert len(history.of(Kind.NOTICE_DELIVERED)) == 4


def test_it_hangs_a_grandchild_under_its_spawner() -> None:
    found = _judged("copilot/1.0.102/topo-nested-sync-cut")
    middle, lowest = _children(found)
    assert middle["parent"] == "root"
    assert lowest["parent"] == middle["id"]
    assert lowest["terminals"] == ["failed"]
    assert lowest["told"] == ["failed"]
    assert middle["terminals"] == ["completed"]


@pytest.mark.parametrize(
    ("name", "terminal", "told", "diagnosis"),
    [
        ("0.120.0/app-v2-clean-eof", ["completed"], {"completed"}, "cut_stream_false_completion"),
        ("0.171.0/app-v1-clean-eof", ["failed"], {"failed"}, "failed_and_reported"),
        ("0.171.0/app-v2-clean-eof", ["failed"], {"failed"}, "failed_and_reported"),
        ("0.171.0/app-v2-success", ["completed"], {"completed"}, "healthy"),
        ("0.171.0/exec-v2-clean-eof", ["failed"], {"failed"}, "failed_and_reported"),
    ],
)
def test_it_reads_codex_of_each_version_alike(
    name: str, terminal: list[str], told: set[str], diagnosis: str
) -> None:
    found = _judged(f"codex/{name}")
    (child,) = _children(found)
    assert set(child["terminals"]) == set(terminal)
    assert set(child["told"]) == told
    assert found["diagnosis"] == diagnosis
    assert found["facts"]["version"] == name.split("/")[0]


def test_it_takes_no_copied_turn_of_the_parent_for_the_childs() -> None:
    history = read_case([RECORDED / "codex/0.171.0/app-v2-clean-eof"]).history
    (child,) = history.children
    assert child.name
    asked = history.of(Kind.SPAWN_REQUESTED)
    assert {event.agent for event in asked} == {history.root}
    assert not [one for one in history.of(Kind.ABORTED) if one.agent == child.id]
    copied = [
        event
        for event in history.of(Kind.OTHER)
        if "copied" in str(event.get("summary")) and event.agent == child.id
    ]
    assert len(copied) == 13


def test_it_agrees_with_the_provider_on_codex_retries() -> None:
    name = "codex/0.171.0/app-v2-clean-eof"
    history = read_case([RECORDED / name]).history
    (child,) = history.children
    path = RECORDED / name / "provider.jsonl"
    wire = [json.loads(line) for line in path.read_text().splitlines()]
    tries = [one for one in wire if one.get("role") == "child"]
    retries = [one for one in history.of(Kind.MODEL_RETRY) if one.agent == child.id]
    assert len(retries) == len(tries) - 1
    assert [one.get("attempt") for one in retries] == [1, 2]


def test_it_says_that_a_headless_root_failed() -> None:
    found = _judged("codex/0.171.0/exec-parent-clean-eof")
    (root,) = found["agents"]
    assert root["true_end"] == "failed"


@pytest.mark.parametrize(
    ("name", "terminal", "end", "diagnosis"),
    [
        ("2.1.117-http500", "completed", "failed", "provider_error_false_completion"),
        ("2.1.332-http500", "failed", "failed", "failed_and_reported"),
        ("2.1.332-ok", "completed", None, "healthy"),
    ],
)
def test_it_joins_four_views_of_claude(
    name: str, terminal: str, end: str | None, diagnosis: str
) -> None:
    found = _judged(f"claude/{name}")
    (child,) = _children(found)
    assert child["terminals"] == [terminal]
    assert end is None or child["true_end"] == end
    assert found["diagnosis"] == diagnosis
    read = {row["format"] for row in found["formats"]}
    assert read >= {"claude-session-jsonl", "claude-subagent-jsonl", "claude-stream-json",
                    "claude-hook-payloads", "claude-subagent-meta"}  # fmt: skip


def test_it_agrees_with_the_provider_on_claude_retries() -> None:
    name = "claude/2.1.332-http500"
    history = read_case([RECORDED / name]).history
    counts = json.loads((RECORDED / name / "provider-counts.json").read_text())
    (child,) = history.children
    retries = history.of(Kind.MODEL_RETRY)
    assert [one.get("attempt") for one in retries] == [1, 2]
    assert {one.agent for one in retries} == {child.id}
    assert len(retries) + 1 == counts["n_child"]
    calls = [one for one in history.of(Kind.MODEL_STARTED) if one.agent == child.id]
    assert len(calls) == counts["n_child"]


def test_it_reads_opencodes_bus_and_its_hidden_times() -> None:
    case = read_case([RECORDED / "opencode/1.18.3-chat"])
    history = case.history
    assert case.facts["version"] == "1.18.3"
    ends = {run.agent: run.status for run in history.runs if run.ends}
    assert sorted(ends.values()) == ["completed", "completed", "failed", "interrupted"]
    assert history.timed
    assert 10 < history.end < 600


def test_it_reads_what_opencode_run_prints() -> None:
    found = _judged("opencode/1.18.33-run")
    (child,) = _children(found)
    assert child["terminals"] == ["completed"]
    assert child["told"] == ["completed"]


def test_it_reads_omnigents_stream_with_wakes_and_inbox() -> None:
    history = read_case([RECORDED / "omnigent/run2"]).history
    assert {agent.id: agent.runs[0].status for agent in history.children if agent.runs} == {
        "f2e5b732ee70417b81b2441de95f211c": "completed",
        "ab8e25a49e3f4e2cb9ab5ee081b671d4": "failed",
    }
    forms = [(one.get("form"), one.get("status")) for one in history.of(Kind.NOTICE_DELIVERED)]
    assert forms == [
        ("wake", "completed"), ("poll", "completed"), ("wake", "failed"), ("poll", "failed"),
    ]  # fmt: skip
    waiting = [one for one in history.of(Kind.STATUS) if one.get("status") == "waiting"]
    assert waiting


def test_it_reads_what_omnigent_has_stored() -> None:
    case = read_case([RECORDED / "omnigent/stored"])
    assert {row["format"] for row in case.formats} == {"omnigent-export"}
    history = case.history
    (child,) = history.children
    assert (child.role, child.name, child.runs[0].status) == ("worker", "lifeline-1", "failed")
    forms = [(one.get("form"), one.get("status")) for one in history.of(Kind.NOTICE_DELIVERED)]
    assert forms == [("wake", "failed"), ("poll", "failed")]


def test_it_reads_hermes_hooks_and_gateway() -> None:
    hooks = read_case([RECORDED / "hermes/hooks"]).history
    stops = [event.get("raw") for event in hooks.of(Kind.AGENT_ENDED)]
    assert stops.count("failed") >= 2
    assert stops.count("completed") >= 6
    gateway = read_case([RECORDED / "hermes/tui"]).history
    assert [run.status for run in gateway.runs] == ["completed"] * 3
