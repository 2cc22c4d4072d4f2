"""L6: attempts are counted and gaps are measured at the provider."""

from __future__ import annotations

from typing import Any

import pytest

from runs.core.events import Kind
from runs.tests.core.build import Told, answers, ask

FLAT = [1.0, 2.05, 3.08, 4.11, 5.13, 6.16]
GROWING = [1.0, 2.0, 4.0, 8.0, 16.0, 32.0]
JITTERED = [1.0, 1.6, 2.9, 3.5, 4.9, 5.4]


def _child(starts: list[float], **data: Any) -> Told:
    return Told().begin().spawn("A").tries("child:1", starts, **data)


def test_it_is_broken_by_constant_gaps_over_a_whole_budget() -> None:
    assert answers(_child(FLAT).shuts(20), "L6") == ["broken:flat"]
    assert ask(_child(FLAT).shuts(20), "L6").broken[0].figures["attempts"] == 6


@pytest.mark.parametrize("starts", [GROWING, JITTERED, FLAT[:4], FLAT[:2], FLAT[:1]])
def test_it_holds_for_growing_jittered_or_few_gaps(starts: list[float]) -> None:
    assert answers(_child(starts).shuts(60), "L6") == ["holds"]


def test_it_does_not_call_a_quick_recovery_flat() -> None:
    told = _child(FLAT[:4]).at(5.2).request("child:1", call=1, attempt=5).shuts(9)
    assert answers(told, "L6") == ["holds"]


def test_one_slow_try_does_not_hide_constant_gaps() -> None:
    assert answers(_child([1.0, 2.0, 3.0, 4.4, 5.4, 6.4]).shuts(9), "L6") == ["broken:flat"]


def test_it_is_broken_by_more_attempts_than_the_maximum() -> None:
    starts = [2.0**step for step in range(10)]
    assert answers(_child(starts).shuts(600), "L6") == ["broken:endless_retry"]
    hot = [1 + step * 0.3 for step in range(30)]
    assert answers(_child(hot).shuts(60), "L6") == ["broken:retry_storm"]
    assert answers(_child(GROWING).shuts(60), "L6", max_attempts=4) == ["broken:endless_retry"]


TEN = [2.0**step for step in range(10)]


def test_it_calls_only_tries_without_an_end_endless() -> None:
    told = _child(TEN).at(520).ends("A", "failed").tells("A", "failed").shuts(521)
    assert answers(told, "L6") == ["broken:too_many"]
    assert ask(told, "L6").diagnosis == "failed_and_reported"
    untrue = _child(TEN).at(520).ends("A").tells("A").shuts(521)
    assert answers(untrue, "L6") == ["broken:too_many"]
    late = _child(TEN).at(600).request("child:1", call=1, attempt=11).shuts(700)
    assert answers(late, "L6") == ["broken:too_many"]
    assert ask(late, "L6").diagnosis == "retry_storm"
    hot = _child([1 + step * 0.3 for step in range(30)]).at(12).ends("A", "failed").shuts(13)
    assert answers(hot, "L6") == ["broken:retry_storm"]


def test_an_end_that_was_asked_for_is_no_giving_up() -> None:
    told = _child(TEN).at(520).add(Kind.CANCEL_REQUESTED, target="A", by="user")
    assert answers(told.ends("A", "failed").shuts(521), "L6") == ["broken:endless_retry"]
    told = _child(TEN).at(520).ends("A", "cancelled").shuts(521)
    assert answers(told, "L6") == ["broken:endless_retry"]
    told = _child(TEN).at(520).add(Kind.GUARD, guard="timeout").ends("A", "failed").shuts(521)
    assert answers(told, "L6") == ["broken:endless_retry"]


def test_it_counts_the_try_that_was_announced_when_we_ended_the_run() -> None:
    told = _child(TEN[:8]).at(129).add(Kind.MODEL_RETRY, "A", attempt=8, delay=128)
    cut = told.at(180).add(Kind.GUARD, guard="timeout").exits(143)
    assert answers(cut, "L6") == ["broken:endless_retry"]
    told = _child(TEN[:7]).at(65).add(Kind.MODEL_RETRY, "A", attempt=7, delay=64)
    cut = told.at(100).add(Kind.GUARD, guard="timeout").exits(143)
    assert answers(cut, "L6") == ["unknown"]
    told = _child(TEN[:8]).at(129).add(Kind.MODEL_RETRY, "A", attempt=8, delay=128)
    assert answers(told.ends("A", "failed").shuts(130), "L6") == ["holds"]


def test_a_whole_answer_is_no_end_where_it_was_not_taken() -> None:
    """Each answer was whole and its connection cut: the agent asks again and again."""
    told = _child(TEN[:8], complete=True).at(129).add(Kind.MODEL_RETRY, "A", attempt=8, delay=30)
    cut = told.at(150).add(Kind.GUARD, guard="timeout").exits(143)
    assert answers(cut, "L6") == ["broken:endless_retry"]
    told = _child(TEN[:5], complete=True).at(17).add(Kind.MODEL_RETRY, "A", attempt=5, delay=30)
    cut = told.at(20).add(Kind.GUARD, guard="timeout").exits(143)
    assert answers(cut, "L6") == ["unknown"]


def test_it_does_not_know_whether_tries_that_we_ended_would_have_stopped() -> None:
    told = _child(GROWING).at(60).add(Kind.GUARD, guard="timeout").exits(143)
    assert answers(told, "L6") == ["unknown"]
    told = _child(GROWING[:1]).at(60).add(Kind.GUARD, guard="timeout").exits(143)
    assert answers(told, "L6") == ["holds"]
    ended = _child(GROWING).at(40).ends("A", "failed").at(60).add(Kind.GUARD, guard="timeout")
    assert answers(ended.exits(143), "L6") == ["holds"]


def test_it_is_broken_when_retry_after_is_not_obeyed() -> None:
    told = _child([1.0, 2.0, 4.5], status=429, retry_after=20)
    assert answers(told.shuts(9), "L6") == ["broken:retry_after"]


@pytest.mark.parametrize(("again", "verdict"), [(2.0, "holds"), (1.8, "broken:retry_after")])
def test_a_wait_counts_from_the_head_of_the_answer(again: float, verdict: str) -> None:
    told = Told().begin().spawn("A").at(1)
    first = {"caller": "child:1", "request": "r0", "call": 1, "attempt": 1}
    told.add(Kind.REQUEST_RECEIVED, "A", **first).add(Kind.RESPONSE_STARTED, "A", **first)
    refused = {"status": 429, "complete": False, "closed": "ended", "retry_after": 1}
    told.at(1.3).add(Kind.REQUEST_ENDED, "A", **first, **refused)
    told.at(again).request("child:1", agent="A", call=1, attempt=2)
    told.ends("A").tells("A")
    assert answers(told.shuts(5), "L6") == [verdict]


def test_it_holds_when_retry_after_is_obeyed_within_five_percent() -> None:
    starts = [1 + step * 1.96 for step in range(6)]
    assert answers(_child(starts, status=429, retry_after=2).shuts(20), "L6") == ["holds"]


def test_it_calls_three_refused_children_at_once_a_wave() -> None:
    told = Told().begin().spawn("A").spawn("B").spawn("C")
    for at in (1.0, 2.0, 3.0):
        for number, agent in enumerate("ABC"):
            told.at(at + number / 50).request(agent, agent=agent, status=429, retry_after=20)
    assert answers(told.shuts(9), "L6") == ["broken:rate_limit_wave"] * 3


def test_it_is_broken_by_a_retry_that_cannot_mend() -> None:
    assert answers(_child([1.0, 2.5], status=400), "L6") == ["broken:permanent_retried"]
    assert answers(_child([1.0], status=400), "L6") == ["holds"]


def test_it_takes_a_request_in_one_piece_for_no_retry_of_the_stream() -> None:
    told = _child([1.0], status=404, stream=True).at(2)
    told = told.request("child:1", call=1, attempt=2, status=404, stream=False)
    assert answers(told, "L6") == ["holds"]
    again = told.at(3).request("child:1", call=1, attempt=3, status=404, stream=False)
    assert answers(again, "L6") == ["broken:permanent_retried"]


def test_it_allows_one_fresh_login() -> None:
    assert answers(_child([1.0, 2.5], status=401), "L6") == ["holds"]
    assert answers(_child([1.0, 2.5, 6.0], status=401), "L6") == ["broken:permanent_retried"]


def test_it_is_broken_by_giving_up_at_the_first_overload() -> None:
    assert answers(_child([1.0], status=503).shuts(9), "L6") == ["broken:no_retry"]
    told = _child([1.0], status=429, retry_after=3600)
    assert answers(told.shuts(9), "L6") == ["holds"]


def test_one_that_announced_a_try_and_was_ended_before_did_not_give_up() -> None:
    told = _child([1.0], status=500).at(3).add(Kind.MODEL_RETRY, "A", attempt=1, of=3)
    assert answers(told.shuts(4), "L6") == ["holds"]


def test_it_wants_the_same_policy_for_root_and_child() -> None:
    told = Told().begin().spawn("A").tries("child:1", [1.0]).tries("parent", GROWING)
    assert "broken:no_retry" in answers(told.shuts(60), "L6", "A")


def test_it_is_broken_by_a_finished_tool_that_runs_again() -> None:
    told = Told().begin().spawn("A").at(1).request("child:1").tool("A", "t1").tool("A", "t1")
    assert answers(told.shuts(9), "L6", "A") == ["broken:tool_replayed"]


def test_it_counts_the_agents_own_attempts_where_no_provider_is() -> None:
    told = Told().begin().spawn("A")
    for attempt in range(1, 11):
        told.at(attempt * 10).add(Kind.MODEL_RETRY, "A", attempt=attempt)
    assert answers(told, "L6") == ["broken:endless_retry"]
    assert answers(told.at(110).ends("A", "failed"), "L6") == ["broken:too_many"]
    told = Told().begin().spawn("A").at(1).add(Kind.MODEL_RETRY, "A", attempt=2)
    assert answers(told, "L6") == ["unknown"]
    assert answers(Told().begin().spawn("A").ends("A"), "L6") == ["unknown"]
