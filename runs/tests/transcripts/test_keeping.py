"""Very long files: bounded memory, nothing dropped silently, no lifecycle lost."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Any

import pytest

from runs.core.events import Kind
from runs.core.judge import judge
from runs.tests.transcripts.helpers import CASES, RECORDED, broken, case
from runs.tests.transcripts.makers import CopilotLog
from runs.transcript import Unreadable, read_case
from runs.transcripts import _keeping

FOLDERS = [*CASES, *sorted({path.parent for path in RECORDED.rglob("*.json*")})]


@pytest.fixture
def no_plenty(monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything is folded from the first record on."""
    monkeypatch.setattr(_keeping, "PLENTY", 0)
    monkeypatch.setattr(_keeping, "EACH", 0)


def _judged(folder: Path) -> tuple[str, set[Any], int]:
    """Diagnosis, the verdict of each law on each agent, and how many records were folded."""
    found = read_case([folder])
    judgement = judge(found.history)
    verdicts = {(one.law, one.agent, one.verdict, one.label) for one in judgement.findings}
    return judgement.diagnosis, verdicts, sum(row["folded"] for row in found.formats)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda path: path.name)
def test_folding_changes_no_judgement(folder: Path, request: pytest.FixtureRequest) -> None:
    try:
        diagnosis, verdicts, _ = _judged(folder)
    except Unreadable:
        pytest.skip("no log that is read by itself")
    request.getfixturevalue("no_plenty")
    again, same, _ = _judged(folder)
    assert (again, same) == (diagnosis, verdicts)


def test_the_recordings_are_folded_at_all(no_plenty: None) -> None:
    folded = []
    for folder in FOLDERS:
        with contextlib.suppress(Unreadable):
            folded.append(_judged(folder)[2])
    assert sum(folded) > 150


def test_it_folds_streamed_pieces_and_counts_them(tmp_path: Path, no_plenty: None) -> None:
    log = CopilotLog().spawn(1, "A", "c")
    for place in range(500):
        log.put(2 + place / 100, "assistant.message_delta", "A", deltaContent="x")
        log.put(2 + place / 100, "session.info", infoType="x")
    log.say(8, "answer", "A").end(8.1, "A", "c").tell(8.2, "A")
    found = case(tmp_path, {"stdout.jsonl": log.close(10)})
    (row,) = found.formats
    assert row["lines"] == len(log.records)
    assert row["folded"] > 900
    assert row["other"]["session.info"] == 500
    assert len(found.events) < 100
    assert sum(one.get("text_length") for one in found.history.of(Kind.DELTA)) == 500
    assert broken(found) == set()
    assert found.history.end == 10


def test_it_keeps_the_time_of_the_last_record(tmp_path: Path, no_plenty: None) -> None:
    log = CopilotLog()
    for place in range(50):
        log.put(1 + place, "session.info", infoType="x")
    found = case(tmp_path, {"stdout.jsonl": log.records})
    assert found.history.end == 50
    assert any("more like it" in str(one.get("summary")) for one in found.history.of(Kind.OTHER))


def _work(log: CopilotLog, begin: float, calls: int, step: float, agent: str) -> None:
    for place in range(calls):
        at = begin + place * step
        log.put(at, "tool.execution_start", agent, toolCallId=f"{agent}-{at}", toolName="view")
        log.answer(at + step / 3, f"{agent}-{at}", "x", owner=agent)
        log.say(at + step / 2, "going on", agent)


def test_it_keeps_a_silence_in_the_middle_of_much_work(tmp_path: Path, no_plenty: None) -> None:
    log = CopilotLog().spawn(1, "A", "c")
    log.put(1.5, "assistant.message_delta", "A", deltaContent="x")
    _work(log, 2, 300, 0.1, "A")
    _work(log, 402, 300, 0.1, "A")
    log.end(440, "A", "c", "failed").tell(440.1, "A", "failed")
    found = case(tmp_path, {"events.jsonl": log.close(441)})
    assert found.formats[0]["folded"] > 1200
    (stall,) = [
        one for one in judge(found.history).findings if one.law == "L5" and one.agent == "A"
    ]
    assert stall.figures["silence"] == pytest.approx(370.0)


def test_it_keeps_what_a_child_does_after_its_end(tmp_path: Path, no_plenty: None) -> None:
    log = CopilotLog().spawn(1, "A", "c")
    _work(log, 2, 100, 0.1, "A")
    log.end(20, "A", "c").tell(20.1, "A")
    _work(log, 21, 100, 0.1, "A")
    found = case(tmp_path, {"events.jsonl": log.close(60)})
    assert ("L12", "A") in broken(found)


def test_it_keeps_a_tool_that_is_still_open(tmp_path: Path, no_plenty: None) -> None:
    log = CopilotLog().spawn(1, "A", "c")
    log.put(2, "tool.execution_start", "A", toolCallId="long", toolName="bash")
    _work(log, 2.1, 30, 0.01, "A")
    log.answer(500, "long", "x", owner="A")
    log.say(500.1, "done", "A").end(500.2, "A", "c").tell(500.3, "A")
    found = case(tmp_path, {"events.jsonl": log.close(501)})
    assert broken(found) == set()


def test_it_keeps_a_tool_call_that_is_run_again(tmp_path: Path, no_plenty: None) -> None:
    log = CopilotLog().spawn(1, "A", "c")
    _work(log, 2, 20, 0.02, "A")
    log.put(2.5, "tool.execution_start", "A", toolCallId="twice", toolName="bash")
    log.answer(2.51, "twice", "x", owner="A")
    _work(log, 2.6, 20, 0.01, "A")
    log.put(9, "tool.execution_start", "A", toolCallId="twice", toolName="bash")
    log.answer(9.1, "twice", "x", owner="A")
    _work(log, 9.2, 20, 0.01, "A")
    log.end(20, "A", "c").tell(20.1, "A")
    found = case(tmp_path, {"events.jsonl": log.close(21)})
    begun = [one for one in found.history.of(Kind.TOOL_STARTED) if one.get("call") == "twice"]
    ended = [one for one in found.history.of(Kind.TOOL_ENDED) if one.get("call") == "twice"]
    assert [one.native for one in begun] == ["tool.execution_start"] * 2
    assert [log.records[(one.line or 1) - 1]["type"] for one in [*begun, *ended]] == [
        *["tool.execution_start"] * 2,
        *["tool.execution_complete"] * 2,
    ]
    assert found.history.place(ended[0]) < found.history.place(begun[1])
    assert found.formats[0]["folded"] > 100


def test_the_files_of_a_case_share_the_plenty(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_keeping, "PLENTY", 400)
    monkeypatch.setattr(_keeping, "EACH", 50)
    logs = {}
    for number in range(3):
        log = CopilotLog()
        for place in range(300):
            log.put(1 + place / 1000, "session.info", infoType="x")
        logs[f"{number}/events.jsonl"] = log.records
    rows = case(tmp_path, logs).formats
    assert rows[0]["folded"] == 0
    assert 150 < rows[1]["folded"] < 250
    assert 240 < rows[2]["folded"] < 260


def test_too_much_that_cannot_be_folded_is_refused_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_keeping, "MOST", 100)
    log = CopilotLog()
    for place in range(60):
        log.spawn(1 + place, f"A{place}", f"c{place}")
    with pytest.raises(Unreadable, match="more than 100 records"):
        case(tmp_path, {"events.jsonl": log.records})
