"""The real Copilot CLI, from its package, through the one command.

What is a race in the binary (whether standard output still says the end, whether the
parent is told before it leaves) is not asserted; that our answer agrees with the raw
lines of the same run, whichever way the race went, is.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
import zstandard

from runs.tests.drivers.real import Commands

pytestmark = [pytest.mark.binary, pytest.mark.slow]

RUNS = (
    ("1.0.102", "success"),
    ("1.0.102", "sse-cut"),
    ("1.0.102", "chunk-cut"),
    ("1.0.81", "sse-cut"),
    ("1.0.60", "chunk-cut"),
)
NOTICES = ("agent_idle", "agent_completed")


@dataclass(frozen=True)
class Ran:
    """One run: the document that the command printed, and its raw sources."""

    document: dict[str, Any]
    sources: Path

    def lines(self, name: str) -> list[bytes]:
        """The physical lines of a stored source."""
        packed = self.sources / f"{name}.zst"
        if packed.exists():
            with packed.open("rb") as file:
                return zstandard.ZstdDecompressor().stream_reader(file).read().split(b"\n")
        return (self.sources / name).read_bytes().split(b"\n")

    def records(self, name: str) -> list[dict[str, Any]]:
        """The records of a source of JSON lines."""
        return [json.loads(line) for line in self.lines(name) if line.strip()]

    @cached_property
    def child(self) -> dict[str, Any]:
        """The one sub-agent."""
        (child,) = [agent for agent in self.document["agents"] if agent["caller"] == "child:1"]
        return child

    @property
    def attempts(self) -> list[dict[str, Any]]:
        """The attempts of the sub-agent's one call."""
        return [one for one in self.document["attempts"] if one["caller"] == "child:1"]

    def verdict(self, law: str) -> str:
        """A law's answer about the sub-agent (about anybody where it says nothing of it)."""
        of_law = [one for one in self.document["findings"] if one["law"] == law]
        mine = [one for one in of_law if one["agent"] == self.child["id"]] or of_law
        return "broken" if any(one["verdict"] == "broken" for one in mine) else mine[0]["verdict"]

    def notices(self) -> list[str]:
        """What both raw logs say of the sub-agent to its parent, by Copilot's own record."""
        found = []
        for name in ("stdout.jsonl", "session-events.jsonl"):
            for record in self.records(name):
                kind = record.get("data", {}).get("kind", {})
                if record["type"] == "system.notification" and kind.get("type") in NOTICES:
                    found.append(f"{name}: {kind['type']}")
        return found


Reproduce = Callable[[str, str], Ran]


@pytest.fixture(scope="module")
def reproduce(tmp_path_factory: pytest.TempPathFactory) -> Reproduce:
    """Runs a scenario on a version, once for all tests that look at it."""
    commands = Commands(tmp_path_factory.mktemp("var"))

    def run(version: str, scenario: str) -> Ran:
        document = commands.document("reproduce", f"copilot@{version}", scenario)
        return Ran(document, document["sources"])

    return run


def test_it_finds_a_healthy_run_healthy(reproduce: Reproduce) -> None:
    ran = reproduce("1.0.102", "success")
    assert ran.document["outcome"] == "completed"
    assert ran.document["diagnosis"] == "healthy"
    assert ran.document["exit_code"] == 0
    assert len(ran.attempts) == 1
    assert ran.child["terminal"]["session"] == "completed"
    for law in ("L1", "L2", "L3"):
        assert ran.verdict(law) != "broken"


@pytest.mark.parametrize("scenario", ["sse-cut", "chunk-cut"])
def test_it_sees_six_attempts_of_a_cut_stream_and_what_copilot_claims_of_them(
    reproduce: Reproduce, scenario: str
) -> None:
    ran = reproduce("1.0.102", scenario)
    assert ran.document["outcome"] == "model-request-failed"
    assert ran.document["exit_code"] == 0
    assert [one["n"] for one in ran.attempts] == [1, 2, 3, 4, 5, 6]
    assert {one["fault"] for one in ran.attempts} == {scenario}
    assert ran.document["retry"]["reported"]["retries"] == 5
    assert ran.document["retry"]["measured"]["retries"] == 5
    assert ran.child["terminal"]["session"] == "failed"
    assert ran.child["terminal"]["stdout"] in ("failed", "started-only")
    assert ran.verdict("L2") != "broken"


@pytest.mark.parametrize(
    ("scenario", "attempts", "reasons"),
    [
        ("http-400", 1, []),
        ("http-401", 3, ["transient_auth_error"]),
        ("cut-once", 2, ["streaming_error"]),
        ("http-500", 6, ["api_error"]),
    ],
)
def test_it_tries_again_as_its_table_of_faults_says(
    reproduce: Reproduce, scenario: str, attempts: int, reasons: list[str]
) -> None:
    ran = reproduce("1.0.102", scenario)  # docs/copilot-faults.md has the others
    assert ran.document["exit_code"] == 0
    assert len(ran.attempts) == attempts
    assert ran.document["retry"]["reasons"] == reasons
    recovered = scenario == "cut-once"
    assert ran.child["terminal"]["session"] == ("completed" if recovered else "failed")
    gaps = ran.document["retry"]["measured"]["gaps"]
    if scenario == "http-500":
        assert gaps[2] < gaps[3] < gaps[4] and gaps[4] > 4 * gaps[0]


def test_it_sees_a_version_that_calls_six_cut_streams_completed(reproduce: Reproduce) -> None:
    ran = reproduce("1.0.81", "sse-cut")
    assert ran.document["outcome"] == "model-request-failed"
    assert ran.child["terminal"] == {"stdout": "completed", "session": "completed"}
    assert len(ran.attempts) == 6
    assert not any(one["complete"] for one in ran.attempts)
    assert ran.document["exit_code"] == 1
    assert ran.verdict("L2") == "broken"
    assert ran.verdict("L3") == "broken"
    assert ran.document["diagnosis"] == "cut_stream_false_completion"


def test_it_sees_growing_gaps_and_a_sleep_that_was_never_followed_by_an_attempt(
    reproduce: Reproduce,
) -> None:
    ran = reproduce("1.0.60", "chunk-cut")
    gaps = [one["gap_before"] for one in ran.attempts][1:]
    assert ran.attempts[0]["gap_before"] is None
    assert len(gaps) == 5
    assert gaps[-1] > 3 * gaps[0]
    assert sum(later > earlier for earlier, later in zip(gaps, gaps[1:], strict=False)) >= 3
    assert ran.document["retry"]["measured"]["gaps"] == pytest.approx(gaps, abs=0.01)
    assert ran.document["retry"]["reported"]["sleep"] > sum(gaps)
    assert ran.child["terminal"] == {"stdout": "failed", "session": "failed"}


everywhere = pytest.mark.parametrize(("version", "scenario"), RUNS)


@everywhere
def test_it_runs_what_was_asked_for_in_a_seal_from_which_nothing_tried_to_leave(
    reproduce: Reproduce, version: str, scenario: str
) -> None:
    document = reproduce(version, scenario).document
    assert document["status"] == "ended"
    assert document["version"] == version
    assert document["runtime"]["payload"] == version
    assert document["runtime"]["node"].startswith("v")
    assert len(document["sha256"]) == 64
    assert document["tools"]["advertised"] == ["task"]
    assert document["network"] == []


@everywhere
def test_it_says_of_each_source_what_its_raw_lines_say(
    reproduce: Reproduce, version: str, scenario: str
) -> None:
    ran = reproduce(version, scenario)
    for view, name in (("stdout", "stdout.jsonl"), ("session", "session-events.jsonl")):
        types = {record["type"] for record in ran.records(name)}
        said = (
            "failed"
            if "subagent.failed" in types
            else "completed"
            if "subagent.completed" in types
            else "started-only"
            if "subagent.started" in types
            else "none"
        )
        assert ran.child["terminal"][view] == said
    received = [
        one
        for one in ran.records("provider.jsonl")
        if one["what"] == "request.received" and one["caller"] == "child:1"
    ]
    assert len(received) == len(ran.attempts)


@everywhere
def test_it_says_that_the_parent_was_told_exactly_when_a_raw_line_says_so(
    reproduce: Reproduce, version: str, scenario: str
) -> None:
    ran = reproduce(version, scenario)
    told = ran.child["told"]
    assert (told is not None) == bool(ran.notices())
    if told is None:
        assert ran.verdict("L3") != "holds"
        assert ran.document["diagnosis"] not in ("healthy", "failed_and_reported")
    elif ran.attempts[-1]["complete"] or told["status"] == "failed":
        assert ran.verdict("L3") != "broken"
    else:
        assert ran.verdict("L3") == "broken"


@everywhere
def test_it_supports_every_finding_with_lines_that_are_there(
    reproduce: Reproduce, version: str, scenario: str
) -> None:
    ran = reproduce(version, scenario)
    broken = [one for one in ran.document["findings"] if one["verdict"] == "broken"]
    for finding in broken:
        assert finding["evidence"], finding
        for evidence in finding["evidence"]:
            name, colon, line = evidence["ref"].rpartition(":")
            if colon and line.isdigit():
                assert ran.lines(name)[int(line) - 1].strip(), evidence
