"""Very long files: bounded memory, nothing dropped silently, no lifecycle lost."""

from __future__ import annotations

from pathlib import Path

import pytest

from runs.core.events import Kind
from runs.tests.transcripts.helpers import broken, case
from runs.tests.transcripts.makers import CopilotLog
from runs.transcripts import _keeping


def test_it_folds_streamed_pieces_and_counts_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_keeping, "PLENTY", 20)
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


def test_it_keeps_the_time_of_the_last_record(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_keeping, "PLENTY", 5)
    log = CopilotLog()
    for place in range(50):
        log.put(1 + place, "session.info", infoType="x")
    found = case(tmp_path, {"stdout.jsonl": log.records})
    assert found.history.end == 50
    assert any("more like it" in str(one.get("summary")) for one in found.history.of(Kind.OTHER))
