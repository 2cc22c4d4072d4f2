"""Runs without a word: their own records are here, and hold nothing that they said or did."""

from __future__ import annotations

from collections.abc import Iterable

from runs.core.agents import Run
from runs.core.events import Event, Kind
from runs.core.history import History


def did_something(events: Iterable[Event]) -> bool:
    """Whether there is a word or a tool among a run's events."""
    return any(
        event.kind is Kind.TOOL_STARTED
        or (
            event.kind is Kind.AGENT_MESSAGE
            and (event.get("text_length") or event.get("tool_calls"))
        )
        for event in events
    )


def turn_without_a_word(history: History, run: Run) -> Event | None:
    """The good end of the run's own turn, where neither it nor any report holds a word.

    That a word was said and not recorded is not ruled out.
    """
    events = history.events_of(run)
    turns = [
        event
        for event in events
        if event.kind is Kind.TURN_ENDED and event.get("status") == "completed"
    ]
    worded = any(one.get("text_length") or one.get("has_result") for one in _reports(run))
    pieces = any(event.kind is Kind.DELTA for event in events)
    return turns[-1] if turns and not (worded or pieces or did_something(events)) else None


def told_nothing(run: Run) -> Event | None:
    """The report by which its parent got nothing, where it got no other."""
    said = [note for note in run.notices if note.get("has_result") is not None]
    return said[0] if said and not any(note.get("has_result") for note in said) else None


def _reports(run: Run) -> list[Event]:
    return [*run.ends, *run.notices, *run.queued]
