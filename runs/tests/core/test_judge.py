"""Judging never crashes, is deterministic, and finds one cause."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as some

from runs.core.diagnosis import LABELS
from runs.core.events import KINDS, Event, Kind
from runs.core.history import History
from runs.core.judge import judge, laws, row
from runs.core.law import Finding, Law, Thresholds, Verdict
from runs.core.rows import agent_rows, attempt_rows, retry_row
from runs.core.timeline import timeline
from runs.tests.core.build import Told


class _Crashes(Law):
    id, name, sentence = "L1", "CRASHES", "It crashes."
    why = detected = needs = "-"

    def judge(self, history: History, thresholds: Thresholds) -> Iterable[Finding]:
        raise ZeroDivisionError


def test_a_law_that_crashes_answers_unknown() -> None:
    (found,) = judge(Told().begin().history(), only=[_Crashes()]).findings
    assert found.verdict is Verdict.UNKNOWN
    assert "ZeroDivisionError" in found.reason


def test_every_law_answers_even_over_nothing() -> None:
    judged = judge(History([]))
    assert {one.law for one in judged.findings} == set(laws())
    assert {one.verdict for one in judged.findings} == {Verdict.UNKNOWN}
    assert judged.diagnosis == "unknown"


def test_a_consequence_names_its_cause() -> None:
    told = Told().begin().spawn("A").tries("child:1", [1.0, 3.0, 7.0], status=500).at(8)
    judged = judge(told.errs("A").ends("A").tells("A").exits(0, at=9).history())
    because = {one.law: one.because for one in judged.broken}
    assert because == {"L2": "", "L3": "L2", "L16": "L2"}
    assert judged.diagnosis == "provider_error_false_completion"


def test_an_early_exit_is_the_cause_of_lost_terminals() -> None:
    judged = judge(Told().begin().spawn("A").at(3).says("A").exits(0, at=9).history())
    assert {one.law: one.because for one in judged.broken} == {"L1": "L4", "L4": "", "L16": "L4"}
    assert judged.diagnosis == "early_exit_children_lost"


def test_breaches_of_strangers_do_not_explain_each_other() -> None:
    told = Told().begin().spawn("A").spawn("B").at(5).errs("A").ends("A").tells("A")
    judged = judge(told.errs("B").ends("B", "failed").shuts(9).history())
    lost = next(one for one in judged.broken if one.law == "L3" and one.agent == "B")
    assert lost.because == ""


def test_a_failure_that_was_told_stays_one_although_its_retries_were_flat() -> None:
    told = Told().begin().spawn("A").tries("child:1", [1.0 + step for step in range(6)]).at(8)
    judged = judge(told.errs("A").ends("A", "failed").tells("A", "failed").exits(0).history())
    assert [one.label for one in judged.broken] == ["flat"]
    assert judged.diagnosis == "failed_and_reported"


def test_all_well_is_healthy_and_doubt_is_not() -> None:
    told = Told().begin().spawn("A").at(3).says("A").ends("A").tells("A").says("root").shuts(9)
    assert judge(told.history()).diagnosis == "healthy"
    assert judge(Told().begin().spawn("A").history(complete=False)).diagnosis == "unknown"
    told.add(Kind.DAMAGE, "", what="not-json")
    assert judge(told.history()).diagnosis == "log_damaged"
    assert judge(Told().exits(1, at=1).history()).diagnosis == "environment"


def test_a_root_that_closes_with_an_error_is_not_healthy() -> None:
    told = Told().begin().spawn("A").at(2).says("A", final=True).ends("A").tells("A")
    told.at(3).says("root").at(5).errs("root")
    assert judge(told.shuts(6).history()).diagnosis == "unknown"
    assert judge(told.at(5.5).says("root").shuts(6).history()).diagnosis == "healthy"


def test_what_a_restart_took_along_needs_nobody_who_asked() -> None:
    told = Told().begin().spawn("A").at(9).ends("A", "interrupted").tells("A", "interrupted")
    assert judge(told.says("root").shuts(20).history()).diagnosis == "unknown"
    for kind in (Kind.SESSION_RESUMED, Kind.PART):
        told = Told().begin().spawn("A").at(9).add(kind, status="killed")
        told.ends("A", "interrupted").tells("A", "interrupted")
        assert judge(told.says("root").shuts(20).history()).diagnosis == "healthy"


def test_word_that_may_still_come_is_not_healthy() -> None:
    told = Told().begin().spawn("A").at(3).says("A").ends("A").says("root").shuts(9)
    assert judge(told.history()).diagnosis == "notice_lost"
    assert judge(told.history(complete=False)).diagnosis == "unknown"


def test_a_child_that_nobody_hears_of_comes_before_one_that_is_told_twice() -> None:
    told = Told().begin().spawn("A").spawn("B").at(3).says("A").says("B").ends("A").ends("B")
    judged = judge(told.at(4).tells("A").tells("A").shuts(9).history())
    assert {one.label for one in judged.broken} == {"duplicate_notice", "notice_lost"}
    assert judged.diagnosis == "notice_lost"


def test_out_of_time_before_the_first_request_says_nothing_about_the_agent() -> None:
    def late(guard: str = "timeout") -> Told:
        return Told().begin().at(20).add(Kind.GUARD, "", guard=guard)

    assert judge(late().exits(-9).history()).diagnosis == "environment"
    assert judge(late("guard-output-cap").exits(-9).history()).diagnosis == "unknown"
    asked = Told().begin().request("parent", closed="open").at(20)
    asked.add(Kind.GUARD, "", guard="timeout").exits(-9)
    assert judge(asked.history()).diagnosis == "unknown"
    with_child = Told().begin().spawn("A").at(20).add(Kind.GUARD, "", guard="timeout").exits(-9)
    assert judge(with_child.history()).diagnosis == "unknown"


def test_a_row_is_plain_data_with_all_keys() -> None:
    judged = judge(Told().begin().spawn("A").shuts(9).history())
    assert set(row(judged.broken[0])) == set(Finding.__dataclass_fields__)


_NUMBERS = some.one_of(some.none(), some.integers(-5, 600), some.floats(0, 600, width=32))
_WORDS = some.sampled_from(
    [None, "A", "B", "root", "completed", "failed", "cancelled", "idle", "limit", "child:1", ""]
)
_FLAGS = some.sampled_from([None, True, False])
_NUMERIC = frozenset(
    [
        "attempt",
        "bytes",
        "events",
        "duration",
        "delay",
        "retry_after",
        "http_status",
        "text_length",
        "value",
        "rss",
        "cpu",
        "depth",
        "of",
        "retries",
        "sleep",
        "after",
        "exit_code",
        "code",
        "start",
        "end",
        "tool_calls",
        "shells",
    ]
)
_FLAGGED = frozenset(
    [
        "ok",
        "background",
        "has_result",
        "complete",
        "will_retry",
        "repaired",
        "is_error",
        "final",
        "empty",
        "inferred",
        "queued",
        "error_passed",
        "ends_elsewhere",
        "stream",
    ]
)
_LISTED = frozenset({"open", "tools"})


def _value(kind: Kind, key: str) -> some.SearchStrategy[Any]:
    """A value of the type that the table of kinds means by the key."""
    wired = kind.value.startswith(("request.", "response.", "fault."))
    if key in _LISTED:
        return some.sampled_from([None, [], ["A"], ["A", "B"]])
    if key in _NUMERIC or (wired and key in ("call", "status")):
        return _NUMBERS
    return _FLAGS if key in _FLAGGED else _WORDS


@some.composite
def _events(draw: some.DrawFn) -> list[Event]:
    found = []
    for seq in range(1, draw(some.integers(0, 25)) + 1):
        kind = draw(some.sampled_from(list(Kind)))
        keys = sorted(KINDS[kind].keys)
        chosen = draw(some.lists(some.sampled_from(keys), max_size=6)) if keys else []
        found.append(
            Event(
                seq=seq,
                kind=kind,
                source=draw(some.sampled_from(["stdout", "session", "hooks", "provider", "trace"])),
                file=draw(some.sampled_from(["a", "b"])),
                line=seq,
                t=draw(some.one_of(some.none(), some.floats(0, 900))),
                agent=draw(some.sampled_from(["", "root", "A", "B"])),
                data={key: draw(_value(kind, key)) for key in chosen},
            )
        )
    return found


@settings(max_examples=80, deadline=None, suppress_health_check=list(HealthCheck))
@given(_events(), some.sampled_from([None, True, False]))
def test_judging_never_crashes_and_says_the_same_twice(
    events: list[Event], complete: bool | None
) -> None:
    one = judge(History(events, complete=complete))
    other = judge(History(events, complete=complete))
    assert one == other
    assert one.diagnosis in LABELS
    crashed = [
        finding.reason for finding in one.findings if "could not be judged" in finding.reason
    ]
    assert crashed == []
    labels = {law.id: law.labels for law in laws().values()}
    assert all(finding.label in labels[finding.law] for finding in one.broken)
    assert all(finding.reason for finding in one.findings)
    assert all(finding.evidence for finding in one.broken)


@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(_events())
def test_rows_and_timeline_never_crash(events: list[Event]) -> None:
    history = History(events)
    assert len(agent_rows(history)) == len(history.agents)
    assert len(attempt_rows(history)) == len(history.attempts)
    assert retry_row(history)["measured"]["retries"] >= 0
    assert timeline(history)["lanes"] is not None
