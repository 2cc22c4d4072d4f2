"""What the records of an owner come to where no law is broken."""

from __future__ import annotations

from typing import Any

import pytest

from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.owned import SAYS, by_owner
from runs.core.owner_log import FILE, OUTCOMES

WAITED = {"what": "finalize", "turn": "t1", "exit_code": 0, "stopped": False, "why": ""}
FAILED = {**WAITED, "exit_code": 1, "why": "patience"}
RUNS_ON = {"what": "child", "id": "c1", "status": "running", "started": 1.0, "ended": None}
TURN = {"what": "turn", "started": 1.0, "ended": 2.0, "status": "completed", "completed": True}
ONE, TWO = {**TURN, "id": "t1"}, {**TURN, "id": "t2", "started": 3.0, "ended": 4.0}
OPEN = {**ONE, "ended": None, "status": "", "completed": False}
STOP = {"what": "stop", "at": 1.5}
SENT = {"what": "continue", "number": 1}


def _history(*rows: dict[str, Any]) -> History:
    return History(
        Event(
            seq=number, kind=Kind.PHASE, source="harness", file=FILE, line=number, t=number * 0.1,
            data={"phase": "owner", "detail": row},
        )
        for number, row in enumerate(rows, 1)
    )  # fmt: skip


@pytest.mark.parametrize(
    ("rows", "diagnosis"),
    [
        ((ONE, WAITED), ""),
        ((ONE, RUNS_ON), ""),  # It has no result yet.
        ((ONE, RUNS_ON, WAITED), "notice_lost"),
        ((ONE, RUNS_ON, FAILED), "failed_and_reported"),
        ((ONE, SENT, SENT, WAITED), "duplicate_terminal"),
        ((ONE, TWO, WAITED), "misrouted_notice"),
        ((OPEN, STOP, {**WAITED, "stopped": True}), "cancel_ignored"),
    ],
)
def test_it_names_what_went_wrong(rows: tuple[dict[str, Any], ...], diagnosis: str) -> None:
    assert by_owner(_history(*rows)) == diagnosis


def test_it_has_a_word_for_every_bad_end_of_an_owner() -> None:
    assert set(SAYS) == set(OUTCOMES) - {"waited_ok", "ambiguous_retired"}


@pytest.mark.parametrize(
    ("row", "diagnosis"),
    [
        (None, ""),
        ("what", ""),
        ({"what": "turn"}, "unknown"),
        ({"what": "attempt", "number": "one"}, "unknown"),
    ],
)
def test_it_draws_nothing_from_records_that_no_owner_wrote(row: Any, diagnosis: str) -> None:
    assert by_owner(_history(row)) == diagnosis
