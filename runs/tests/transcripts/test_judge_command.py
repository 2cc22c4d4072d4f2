"""The command `judge`: exit codes, one JSON document, a table, and messages that help."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from runs.management.commands.judge import judge_paths, read_thresholds
from runs.tests.transcripts.helpers import CASES, RECORDED


def _run(*words: str) -> tuple[int, str]:
    out = io.StringIO()
    with pytest.raises(SystemExit) as end:
        call_command("judge", *words, stdout=out)
    return int(str(end.value.code)), out.getvalue()


def _case(number: str) -> str:
    return str(next(path for path in CASES if path.name.startswith(number)))


def test_it_exits_with_1_where_something_is_broken_and_0_where_nothing_is() -> None:
    assert _run(_case("01"), "--json")[0] == 1
    assert _run(str(RECORDED / "copilot/1.0.102/success"), "--json")[0] == 0


def test_it_prints_one_json_document() -> None:
    found: dict[str, Any] = json.loads(_run(_case("01"), "--json")[1])
    assert {"formats", "agents", "findings", "diagnosis", "damage"} <= set(found)
    assert found["diagnosis"] == "cut_stream_false_completion"
    assert {"id", "parent", "terminals", "true_end"} <= set(found["agents"][0])
    finding = found["findings"][0]
    assert {"law", "verdict", "agent", "evidence", "reason", "because"} <= set(finding)
    assert all(isinstance(ref, str) for row in found["findings"] for ref in row["evidence"])


def test_it_prints_a_table_for_people_without_control_characters(tmp_path: Path) -> None:
    text = _run(_case("01"))[1]
    assert "Diagnosis: cut_stream_false_completion" in text
    assert "events.jsonl:12" in text
    evil = Path(_case("01")) / "events.jsonl"
    (tmp_path / "events.jsonl").write_text(
        evil.read_text().replace("agent-A", "agent-\\u001b[31mA")
    )
    assert "\x1b" not in _run(str(tmp_path))[1]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["/nowhere"], "/nowhere"),
        ([_case("01"), "--set", "stall_after=soon"], "takes a number"),
        ([_case("01"), "--set", "stalls=3"], "is no threshold"),
    ],
)
def test_it_exits_with_2_and_says_why(
    words: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(*words)[0] == 2
    assert message in capsys.readouterr().err


def test_it_takes_thresholds_and_the_word_incomplete() -> None:
    assert read_thresholds(["stall_after=20", "max_attempts=3"])["max_attempts"] == 3
    strict = judge_paths([_case("10")], ["max_attempts=20"])
    assert strict["diagnosis"] != "endless_retry"
    open_end = judge_paths([_case("03")], incomplete=True)
    assert not open_end["complete"]
    lost = {row["law"] for row in open_end["findings"] if row["verdict"] == "broken"}
    assert "L1" not in lost
