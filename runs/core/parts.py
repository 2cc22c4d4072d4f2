"""The parts of an agent's product: which of them were killed, and which came back."""

from __future__ import annotations

from runs.core.events import Event, Kind
from runs.core.history import History


def killed(history: History) -> list[Event]:
    """Where a part was killed, as a crash would, in order."""
    return [one for one in history.of(Kind.PART) if one.get("status") == "killed"]


def missing(history: History) -> Event | None:
    """The death of a part that never served again, None where all that died came back."""
    for event in killed(history):
        later = history.after(event, Kind.PART)
        back = [one for one in later if one.get("part") == event.get("part")]
        if not any(one.get("status") == "online" for one in back):
            return event
    return None
