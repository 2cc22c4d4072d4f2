"""What damage does to findings: a breach that a lost line may explain is not known to be one.

A line that could not be read may have held the answer, the message or the end whose
absence a law found. Where it stood decides: behind the first evidence of what never
came, or between the two facts that do not fit together. So does a time that is wrong.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from runs.core.apart import Pair, clocks_apart
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Finding, Verdict

NEVER_CAME = frozenset(
    {
        *("dead_spawn", "hidden_permission", "cancel_ignored", "stall", "orphaned"),
        *("terminal_not_published", "early_exit_root_cut", "early_exit_children_lost"),
        *("premature_idle", "failed_untold", "notice_late", "no_retry", "policy_differs"),
        "left_open",
    }
)
"""Labels of breaches that rest on something that did not follow."""
NOT_BEFORE = frozenset({"slots_leaked", "cancel_overreach"})
"""Labels of breaches that rest on something that had not happened before, in any file."""
NOTHING_BETWEEN = frozenset(
    {
        *("zombie", "premature_terminal", "told_early", "duplicate_terminal", "duplicate_notice"),
        *("cut_stream_false_completion", "provider_error_false_completion", "truncated_success"),
        *("misrouted_notice", "tool_replayed", "flat", "retry_after", "false_failure"),
        *("result_dropped", "told_wrong", "limit_exceeded"),
    }
)
"""Labels of breaches that rest on two facts with nothing between them that would explain them."""
WORK_AFTER = frozenset({"zombie", "told_early", "premature_terminal"})
"""Those of them whose second fact may stand in another file: a new run may be what was lost."""
LAST_CALL = frozenset({"cut_stream_false_completion", "provider_error_false_completion"})
"""Labels of breaches that rest on the last of an agent's calls."""
OPEN_THEN = frozenset({"early_exit_children_lost", "premature_idle"})
"""Labels of breaches that one file shows by itself, of a run that has no end in any."""
WITHOUT_CLOCK = LAST_CALL | frozenset(
    {
        *("false_failure", "told_wrong", "result_dropped", "tool_replayed", "flat", "retry_after"),
        *("model_substituted", "misrouted_notice", "lost_terminal"),
    }
)
"""Labels of breaches that rest on what was said, or on one file's own clock."""


def doubted(history: History, findings: Sequence[Finding]) -> list[Finding]:
    """The findings; breaches that a lost line may explain are unknown."""
    if not any(one.verdict is Verdict.BROKEN for one in findings):
        return list(findings)
    apart = clocks_apart(history)
    by_number = {event.seq: event for event in history.events}
    return [
        _doubt_times(history, _doubt(history, one, by_number), by_number, apart) for one in findings
    ]


def _doubt(history: History, finding: Finding, by_number: dict[int, Event]) -> Finding:
    if finding.verdict is not Verdict.BROKEN or finding.label == "log_damaged":
        return finding
    events = [by_number[one.seq] for one in finding.evidence]
    for loss in history.losses:
        places = {
            place.line
            for event in events
            for place in event.sightings
            if place.file == loss.file and place.line is not None
        }
        spread = len({place.file for event in events for place in event.sightings}) > 1
        last = finding.label in LAST_CALL and loss.source == "provider"
        if loss.line is not None and _explains(finding.label, loss.line, places, spread, last):
            where = f"{loss.file}:{loss.line}"
            return _unknown(finding, f"A damaged line ({where}) may have held what is missing.")
    return finding


def _doubt_times(
    history: History, finding: Finding, by_number: dict[int, Event], apart: frozenset[Pair]
) -> Finding:
    """Unknown, where it rests on a time that is wrong, or on two clocks that do not fit."""
    timeless = finding.label in WITHOUT_CLOCK or finding.label == "log_damaged"
    if finding.verdict is not Verdict.BROKEN or timeless:
        return finding
    events = [by_number[one.seq] for one in finding.evidence]
    ended = any(one.kind is Kind.AGENT_ENDED for one in events)
    alone = finding.label in OPEN_THEN and not ended
    places = [place for event in events for place in event.sightings]
    files = {place.file for place in places}
    for pair in apart:
        if pair <= files and not alone:
            words = " and ".join(sorted(pair))
            return _unknown(finding, f"The clocks of {words} do not fit: the order is not known.")
    for wrong in history.wrong_times:
        line, clock = wrong.line or 0, wrong.get("lost") == "clock"
        lines = [place.line or 0 for place in places if place.file == wrong.file]
        touched = any(one >= line if clock else one == line for one in lines)
        if (touched and not clock) or (
            clock and (len(files) > 1 or (touched and finding.label in NOT_BEFORE))
        ):
            what = "The clock was set back" if clock else "The time is wrong"
            where = f"{wrong.file}:{line}"
            return _unknown(finding, f"{what} at {where}: the order is not known.")
    return finding


def _unknown(finding: Finding, reason: str) -> Finding:
    return replace(finding, verdict=Verdict.UNKNOWN, label="", reason=reason)


def _explains(label: str, lost: int, places: set[int], spread: bool, last: bool) -> bool:
    """Whether the line `lost` may explain a breach whose evidence in that file is at `places`.

    `spread`: it has evidence in other files as well. `last`: it rests on a last call, and the
    line may have held a later one.
    """
    if label in NOT_BEFORE:
        return lost < max(places, default=lost + 1)
    if not places:
        return False
    if lost in places:
        return True
    if last or label in NEVER_CAME or (label in WORK_AFTER and spread and len(places) == 1):
        return lost > min(places)
    return label in NOTHING_BETWEEN and min(places) < lost < max(places)
