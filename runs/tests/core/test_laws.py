"""Every law keeps the rules of the folder; a new one inherits these tests."""

from __future__ import annotations

import pytest

from runs.core.diagnosis import LABELS, TABLE, WEAK
from runs.core.judge import PRECEDENCE, laws
from runs.core.law import Law, Thresholds

ALL = [f"L{number}" for number in range(1, len(laws()) + 1)]


def test_they_are_numbered_without_a_gap_and_each_has_its_rank_as_a_cause() -> None:
    assert len(ALL) >= 18 and list(laws()) == ALL
    assert sorted(PRECEDENCE) == sorted(ALL)


@pytest.mark.parametrize("law", laws().values(), ids=lambda law: law.id)
def test_it_says_what_it_is(law: Law) -> None:
    assert law.name == law.name.upper() and law.name
    for text in (law.sentence, law.why, law.detected, law.needs):
        assert text.endswith((".", "?")) and len(text) > 20
    assert law.labels


@pytest.mark.parametrize("law", laws().values(), ids=lambda law: law.id)
def test_every_label_has_a_place_in_the_table_of_diagnoses(law: Law) -> None:
    marks = {mark for _, row in (*TABLE, *WEAK) for mark in row}
    assert {f"{law.id}:{label}" for label in law.labels} <= marks


@pytest.mark.parametrize("law", laws().values(), ids=lambda law: law.id)
def test_its_parameters_and_consequences_exist(law: Law) -> None:
    assert set(law.parameters) <= set(Thresholds.__dataclass_fields__)
    assert set(law.follows) <= set(ALL) - {law.id}


def test_no_two_laws_follow_from_each_other() -> None:
    for law in laws().values():
        for other in law.follows:
            if law.id in laws()[other].follows:
                # Both ways is settled by precedence, and only the earlier one may explain.
                assert PRECEDENCE.index(law.id) != PRECEDENCE.index(other)


def test_the_table_names_only_breaches_that_exist() -> None:
    known = {f"{law.id}:{label}" for law in laws().values() for label in law.labels}
    assert {mark for _, row in (*TABLE, *WEAK) for mark in row} <= known


def test_every_label_of_the_design_is_reachable() -> None:
    assert set(LABELS) == {
        *("healthy", "failed_and_reported", "cut_stream_false_completion"),
        *("provider_error_false_completion", "truncated_success", "premature_idle"),
        *("premature_terminal", "early_exit_children_lost", "early_exit_root_cut"),
        *("notice_lost", "misrouted_notice", "duplicate_terminal", "lost_terminal"),
        *("dead_spawn", "slots_leaked", "stall", "retry_storm", "endless_retry", "no_retry"),
        *("rate_limit_wave", "cancel_overreach", "cancel_ignored", "orphaned", "zombie"),
        *("resume_lost_outcome", "hidden_permission", "child_kills_parent"),
        *("model_substituted", "terminal_not_published", "trace_parent_wrong"),
        *("watchdog_false_alarm", "log_damaged", "environment", "unknown"),
    }
