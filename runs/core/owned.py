"""What the records of a parent's owner say of the whole run, where no law is broken."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from runs.core.events import Kind
from runs.core.history import History
from runs.core.owner_log import FILE, Row, Story, tell

SAYS: Final = {
    "dropped_child": "notice_lost",
    "double_continuation": "duplicate_terminal",
    "misbound": "misrouted_notice",
    "orphan_after_stop": "cancel_ignored",
}
"""The diagnosis for how an owner came out: a result that no turn read, one that two turns were
asked to read, one taken from another turn, and a turn that runs on behind the stop."""


def rows_of(history: History) -> list[Row]:
    """The records of the owner, none where a run has no owner of ours."""
    said = [event.get("detail") for event in history.of(Kind.PHASE) if event.file == FILE]
    return [row for row in said if isinstance(row, Mapping)]


def story_of(rows: Sequence[Row]) -> Story | None:
    """Their story; None where an archive holds records that no owner wrote."""
    try:
        return tell(rows)
    except (LookupError, TypeError, ValueError, AttributeError):
        return None


def by_owner(history: History) -> str:
    """The diagnosis that its records come to; empty where nothing went wrong."""
    story = story_of(rows_of(history))
    if story is None:
        return "unknown"
    if not story.results:
        return ""
    return "failed_and_reported" if story.result.get("exit_code") else SAYS.get(story.outcome, "")
