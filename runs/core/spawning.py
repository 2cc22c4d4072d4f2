"""Requests for children, and the answers to them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from runs.core.events import Event, Kind


@dataclass(slots=True)
class Spawn:
    """One request for a child and its answer; either may be missing from the log.

    `again`: what further views say of them.
    """

    parent: str
    call: str = ""
    asked: Event | None = None
    answered: Event | None = None
    child: str = ""
    again: list[Event] = field(default_factory=list)

    @property
    def accepted(self) -> bool | None:
        """Whether the answer said yes; None while there is no answer."""
        return None if self.answered is None else bool(self.answered.get("ok", True))

    def get(self, key: str, default: Any = None) -> Any:
        """What the request, else the answer, says under `key`, in whichever view."""
        for event in (self.asked, self.answered, *self.again):
            if event is not None and event.get(key) is not None:
                return event.get(key)
        return default


def spawns(events: Iterable[Event]) -> list[Spawn]:
    """Spawn requests joined with their answers by call id, in order of asking."""
    found: list[Spawn] = []
    by_call: dict[tuple[str, str], Spawn] = {}
    for event in events:
        if event.kind not in (Kind.SPAWN_REQUESTED, Kind.SPAWN_ANSWERED):
            continue
        call = str(event.get("call") or "")
        spawn = by_call.get((event.agent, call)) if call else None
        if spawn is None:
            spawn = Spawn(event.agent, call)
            found.append(spawn)
            if call:
                by_call[event.agent, call] = spawn
        if event.kind is Kind.SPAWN_REQUESTED and spawn.asked is None:
            spawn.asked = event
        elif event.kind is Kind.SPAWN_ANSWERED and spawn.answered is None:
            spawn.answered = event
        else:
            spawn.again.append(event)
        spawn.child = spawn.child or str(event.get("child") or "")
    return found
