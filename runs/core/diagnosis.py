"""The diagnosis: one label for what went wrong, from one ordered table over the findings.

Each row names a label and the breaches that it stands for, as ``LAW`` or
``LAW:label``. The first row with a breach in the findings wins; breaches that
follow from another one count only where no other does. Where nothing is broken
the history itself says whether all is well, or failed and said so.
"""

from __future__ import annotations

from collections.abc import Sequence

from runs.core.agents import Run
from runs.core.cancels import asked_to_cancel
from runs.core.events import Kind
from runs.core.history import History
from runs.core.law import Finding, Verdict
from runs.core.owned import by_owner
from runs.core.parts import killed
from runs.core.signs import closing_error
from runs.core.wordless import turn_without_a_word

TABLE: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("hidden_permission", ("L14:hidden_permission",)),
    ("dead_spawn", ("L15:dead_spawn",)),
    ("watchdog_false_alarm", ("L17:watchdog_false_alarm",)),
    ("cancel_overreach", ("L7:cancel_overreach",)),
    ("cancel_ignored", ("L7:cancel_ignored",)),
    ("log_damaged", ("L8:log_damaged",)),
    ("resume_lost_outcome", ("L8:resume_lost_outcome",)),
    ("orphaned", ("L8:orphaned",)),
    ("child_kills_parent", ("L10:child_kills_parent", "L10:child_blocks_parent")),
    ("model_substituted", ("L18:model_substituted", "L10:model_leaked")),
    ("rate_limit_wave", ("L6:rate_limit_wave",)),
    ("endless_retry", ("L6:endless_retry",)),
    ("retry_storm", ("L6:retry_storm",)),
    ("early_exit_root_cut", ("L16:early_exit_root_cut",)),
    ("early_exit_children_lost", ("L4:early_exit_children_lost",)),
    ("premature_idle", ("L4:premature_idle",)),
    (
        "premature_terminal",
        ("L4:premature_terminal", "L12:premature_terminal", "L3:told_early"),
    ),
    ("cut_stream_false_completion", ("L2:cut_stream_false_completion",)),
    ("provider_error_false_completion", ("L2:provider_error_false_completion",)),
    ("truncated_success", ("L2:truncated_success",)),
    ("cut_stream_false_completion", ("L3:cut_stream_false_completion",)),
    ("provider_error_false_completion", ("L3:provider_error_false_completion",)),
    ("misrouted_notice", ("L9:misrouted_notice",)),
    ("zombie", ("L12:zombie",)),
    ("duplicate_terminal", ("L1:duplicate_terminal",)),
    ("slots_leaked", ("L11:slots_leaked", "L11:limit_exceeded")),
    ("stall", ("L5:stall",)),
    ("early_exit_children_lost", ("L16:early_exit_children_lost",)),
    ("lost_terminal", ("L1:lost_terminal",)),
    ("notice_lost", ("L3:notice_lost", "L3:notice_late", "L3:told_wrong", "L3:result_dropped")),
    ("duplicate_terminal", ("L3:duplicate_notice",)),
    ("terminal_not_published", ("L13:terminal_not_published", "L13:views_disagree")),
    ("trace_parent_wrong", ("L13:trace_parent_wrong",)),
    ("retry_storm", ("L6:retry_after", "L6:permanent_retried", "L6:tool_replayed")),
    ("no_retry", ("L6:no_retry", "L6:policy_differs")),
)
"""Label, and the breaches it stands for; the order is the order of causes."""

WEAK: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("retry_storm", ("L6:flat", "L6:too_many")),
    ("notice_lost", ("L16:failed_untold",)),
    ("premature_terminal", ("L2:false_failure",)),
    ("cancel_ignored", ("L7:cancel_misnamed",)),
    ("resume_lost_outcome", ("L8:history_lost", "L8:history_doubled")),
    ("terminal_not_published", ("L13:left_open",)),
)
"""The same for breaches that are no failure of the lifecycle by themselves: a run that failed
and said so stays `failed_and_reported` although its retries were too many or spaced badly."""

_CHILDREN = ("child", "grandchild", "subagent")

OTHERS = ("healthy", "failed_and_reported", "environment", "unknown")
LABELS: tuple[str, ...] = tuple(dict.fromkeys([*(label for label, _ in TABLE), *OTHERS]))
"""Every label that a diagnosis can be."""


def diagnose(history: History, findings: Sequence[Finding]) -> str:
    """The label of the first row that the breaches match; else what the history itself says."""
    broken = [one for one in findings if one.verdict is Verdict.BROKEN]
    causes = [one for one in broken if not one.because]
    label = _first(TABLE, causes) or _first(TABLE, broken)
    if label:
        return label
    if _failed_and_told(history):
        return "failed_and_reported"
    if history.losses:
        return "log_damaged"
    return _first(WEAK, broken) or _without_breach(history, findings)


def _first(table: Sequence[tuple[str, tuple[str, ...]]], broken: Sequence[Finding]) -> str:
    seen = {one.law for one in broken} | {f"{one.law}:{one.label}" for one in broken}
    return next((label for label, marks in table if seen.intersection(marks)), "")


def _failed_and_told(history: History) -> bool:
    """Whether a sub-agent failed and its parent was told, or the root failed and said so."""
    if any(
        run.status == "failed" and any(note.get("status") == "failed" for note in run.notices)
        for run in history.runs
    ):
        return True
    return any(
        event.get("is_error") or event.get("status") == "failed"
        for event in history.of(Kind.RESULT)
    )


def _without_breach(history: History, findings: Sequence[Finding]) -> str:
    if _environment(history):
        return "environment"
    if owned := by_owner(history):
        return owned
    judged = any(one.verdict is Verdict.HOLDS for one in findings)
    if not judged or history.cut_short or any(not run.ends for run in history.runs):
        return "unknown"  # also a run that we ended ourselves, whatever held until then
    if any(not agent.runs and agent.spawn is not None for agent in history.children):
        return "unknown"  # nothing is seen of a sub-agent but that it was asked for
    if not history.complete and any(
        one.law == "L3" and one.verdict is Verdict.UNKNOWN for one in findings
    ):
        return "unknown"  # word of an end may follow, or never come
    if not history.callers_certain and any(
        call.failed and call.caller.startswith(_CHILDREN) for call in history.calls
    ):
        return "unknown"  # a child's last call failed; whose it was is not to be seen
    if any(run.status == "completed" and turn_without_a_word(history, run) for run in history.runs):
        return "unknown"  # its turn is here and holds no word: was there an answer?
    top = history.agents.get(history.root)
    error = closing_error(top.events) if top is not None else None
    if error is not None and error.kind is Kind.ERROR:  # of a message it may be but an abort
        return "unknown"  # the one at the top failed itself, and nothing says what came of that
    if any(run.status == "failed" or _gone_unasked(history, run) for run in history.runs):
        # It failed, and whether anybody was told is not to be seen here; or who stopped it.
        return "unknown"
    return "healthy"


_TAKES_ALONG = (
    *(Kind.SESSION_ENDED, Kind.SESSION_RESUMED, Kind.RESULT, Kind.PROCESS_EXITED),
    Kind.WATCHDOG,
)


def _gone_unasked(history: History, run: Run) -> bool:
    """Whether it was stopped, and nothing here says who asked for it or what took it along."""
    if run.status not in ("cancelled", "interrupted", "stopped") or run.ends[0].source == "hooks":
        return False
    if any(
        history.precedes(one, run.ends[0]) for one in [*history.of(*_TAKES_ALONG), *killed(history)]
    ):
        return False
    return not asked_to_cancel(history, run)


def _environment(history: History) -> bool:
    """Whether the agent never came to work: gone before any agent or model call began, or
    out of time before it had asked a model or started a sub-agent."""
    if not history.of(Kind.PROCESS_EXITED) or history.attempts:
        return False
    if any(guard.get("guard") == "timeout" for guard in history.of(Kind.GUARD)):
        return not history.runs
    return not any(agent.events for agent in history.agents.values())
