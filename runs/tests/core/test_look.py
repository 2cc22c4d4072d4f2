"""Questions over a run: read strictly, answered yes, no or neither."""

from __future__ import annotations

from typing import Any

import pytest

from runs.core.look import LookError, look_for

RUN: dict[str, Any] = {
    "status": "ended",
    "outcome": "model-request-failed",
    "diagnosis": "cut_stream_false_completion",
    "exit_code": 1,
    "attempts": [{"caller": "parent"}, *({"caller": "child:1"} for _ in range(6))],
    "agents": [
        {"parent": None},
        {"parent": "root", "terminal": {"stdout": "completed"}, "told": {"status": "idle"}},
    ],
    "retry": {"reported": {"retries": 5}, "measured": {"gaps": [1.0, 1.1]}},
    "findings": [
        {"law": "L2", "verdict": "broken"},
        {"law": "L1", "verdict": "holds"},
        {"law": "L5", "verdict": "unknown"},
    ],
}


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("law:L2", True),
        ("law:L1", False),
        ("law:L1=holds", True),
        ("law:L5", None),
        ("law:L9", None),
        ("diagnosis != notice_lost", True),
        ("outcome:completed", False),
        ("diagnosis:cut_stream_false_completion", True),
        ("attempts.child > 5", True),
        ("attempts.child > 6", False),
        ("attempts.child = 6 and exit_code = 1", True),
        ("attempts.child = 6 and exit_code = 0", False),
        ('terminal.stdout = "completed"', True),
        ("terminal.session = none", True),
        ("told = idle", True),
        ("gaps.max >= 1.1", True),
        ("reported.sleep > 1", None),
    ],
)
def test_it_answers(text: str, answer: bool | None) -> None:
    assert look_for(text).shows(RUN) is answer


@pytest.mark.parametrize(
    "text",
    [
        *("", "law:2", "law:L2=yes", "law:L99", "attempts.childs > 1", "1 > 2", "x"),
        *("outcome:complete", "diagnosis:never_told", "exit_code = 1 and diagnosis = never_told"),
    ],
)
def test_it_refuses_what_is_no_question(text: str) -> None:
    with pytest.raises(LookError):
        look_for(text)


@pytest.mark.parametrize(
    "change", [{"status": "lost"}, {"outcome": "guard-memory-floor"}, {"outcome": "startup-failed"}]
)
def test_a_run_that_says_nothing_answers_neither(change: dict[str, str]) -> None:
    assert look_for("law:L2").shows({**RUN, **change}) is None
