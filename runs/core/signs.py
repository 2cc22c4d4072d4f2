"""Good and bad signs in an agent's own records: which events say that its model call went well."""

from __future__ import annotations

from collections.abc import Iterable

from runs.core.events import Event, Kind

CALL_OPERATION = "chat"
"""The span of one model call."""


def is_bad(event: Event) -> bool:
    """An error that is not announced to be tried again, and no abort."""
    if event.kind is Kind.ERROR:
        return event.get("error_class") != "aborted" and not event.get("will_retry")
    if event.kind is Kind.MODEL_ENDED:
        return event.get("ok") is False and event.get("error_class") != "aborted"
    if event.kind is Kind.AGENT_MESSAGE:
        return bool(event.get("error"))
    if event.kind is Kind.SPAN:
        return event.get("op") == CALL_OPERATION and event.get("ok") is False
    return event.kind is Kind.TURN_ENDED and event.get("status") == "failed"


def is_good(event: Event) -> bool:
    """A whole model call: it answered, said something, or began a tool."""
    if event.kind is Kind.MODEL_ENDED:
        return event.get("ok") is True
    if event.kind is Kind.AGENT_MESSAGE:
        return not event.get("error") and (
            bool(event.get("text_length")) or bool(event.get("tool_calls"))
        )
    if event.kind is Kind.SPAN:  # A span that says nothing of its status went well.
        return event.get("op") == CALL_OPERATION and event.get("ok") is not False
    return event.kind is Kind.TOOL_STARTED


def closing_error(events: Iterable[Event]) -> Event | None:
    """The error that an agent's own records close with, if nothing good follows it."""
    found: Event | None = None
    for event in events:
        if is_bad(event):
            found = event
        elif is_good(event) or event.get("status") == "completed":
            found = None  # it answered, or its turn counts as whole
    return found
