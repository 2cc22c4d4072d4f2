"""What an owner's records add up to: one word for each way in which a wait comes out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from runs.core import owning as o
from runs.core.owner_log import OUTCOMES, tell
from runs.tests.continuation.scripted import (
    SECOND,
    WAITING,
    WINDOW,
    Step,
    Wait,
    child_ends,
    end,
    later,
    play,
    start,
    stop,
)

SENT = (*WAITING, child_ends("c1"))
CASES: Sequence[tuple[str, str, Sequence[Step]]] = (
    ("waited_ok", "", (*SENT, *SECOND)),
    ("waited_ok", "", (*WAITING, stop())),
    ("waited_ok", "", (*SENT, stop(), start("t2"), end("t2", "interrupted"))),
    ("waited_ok", "", (*SENT, o.Replaced(run="run-2"))),
    ("dropped_child", "CL-1", WAITING),
    ("dropped_child", "CL-2", SENT),
    ("double_continuation", "CL-7", (*SENT, child_ends("c1"))),
    ("double_continuation", "CL-9", (*SENT[:-1], child_ends("c1"), later(*SECOND), start("t3"))),
    ("double_continuation", "CL-14", (*SENT, o.AnswerLost())),
    ("orphan_after_stop", "CL-24", (*WAITING, stop(), later(start("t2")))),
    ("orphan_after_stop", "CL-32", (*WAITING[:-1], end("t1", "strange"), stop())),
    ("ambiguous_retired", "", (*SENT, o.AnswerLost(), Wait(WINDOW + 1))),
    ("misbound", "CL-27", (*SENT, start("t2"), end("t1"), *SECOND[1:])),
)


@pytest.mark.parametrize(("outcome", "breaks", "steps"), CASES)
def test_it_names_how_the_wait_came_out(outcome: str, breaks: str, steps: Sequence[Step]) -> None:
    assert tell(play(steps, breaks=breaks).rows).outcome == outcome


def test_it_has_a_case_for_every_outcome() -> None:
    assert {outcome for outcome, _, _ in CASES} == set(OUTCOMES)
