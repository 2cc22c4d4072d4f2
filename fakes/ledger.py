"""Which call and which attempt a request is, for each caller; and the milestones reached.

A request is a retry when its conversation is the one of the caller's previous
request, or when that one did not complete and the conversation has not advanced
since (no new word from outside: user or tool). Everything else is a new call.
"""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import NamedTuple

from fakes.dialect import ModelRequest, dumps
from fakes.targeting import Identity


class Place(NamedTuple):
    """Where a request belongs: `call` from 1 per caller, `attempt` from 1 per call."""

    caller: str
    call: int
    attempt: int


@dataclass
class _Caller:
    label: str
    call: int = 0
    attempt: int = 0
    fingerprint: str = ""
    progress: int = 0
    complete: bool = True
    notes: dict[str, int] = field(default_factory=dict)


class Ledger:
    """All callers of one run, by the key of their identity."""

    def __init__(self) -> None:
        self._callers: dict[str, _Caller] = {}
        self._numbers: Counter[str] = Counter()

    def place(self, identity: Identity, request: ModelRequest) -> Place:
        """Numbers the request."""
        caller = self._caller(identity)
        mark, progress = fingerprint(request), advanced(request)
        # Titles and compactions are not one conversation: only their very same text is a retry.
        stuck = not caller.complete and progress == caller.progress and identity.depth >= 0
        if caller.call and (mark == caller.fingerprint or stuck):
            caller.attempt += 1
        else:
            caller.call, caller.attempt = caller.call + 1, 1
        caller.fingerprint, caller.progress, caller.complete = mark, progress, False
        return Place(caller.label, caller.call, caller.attempt)

    def over(self, identity: Identity, place: Place, complete: bool) -> None:
        """The exchange has ended."""
        caller = self._caller(identity)
        if (caller.call, caller.attempt) == (place.call, place.attempt):
            caller.complete = complete

    def again(self, identity: Identity) -> Place:
        """One more attempt of the caller's last call, which nobody could receive."""
        caller = self._caller(identity)
        caller.attempt += 1
        return Place(caller.label, caller.call, caller.attempt)

    def notes(self, identity: Identity) -> dict[str, int]:
        """What the script keeps for this caller."""
        return self._caller(identity).notes

    def _caller(self, identity: Identity) -> _Caller:
        if identity.key not in self._callers:
            self._callers[identity.key] = _Caller(self._label(identity.depth))
        return self._callers[identity.key]

    def _label(self, depth: int) -> str:
        kind = "utility" if depth < 0 else ("parent", "child", "grandchild")[min(depth, 2)]
        self._numbers[kind] += 1
        number = self._numbers[kind]
        if kind in ("parent", "utility") and number == 1:
            return kind
        return f"{kind}:{number}"


def fingerprint(request: ModelRequest) -> str:
    """The conversation in a few characters."""
    told = [
        [t.role, t.text, t.call_id, [[c.name, c.arguments, c.id] for c in t.tool_calls]]
        for t in request.turns
    ]
    return hashlib.sha256(dumps(told).encode("utf-8", "surrogatepass")).hexdigest()[:16]


def advanced(request: ModelRequest) -> int:
    """How often the conversation heard something from outside."""
    return sum(turn.role in ("user", "tool") for turn in request.turns)


class Milestones:
    """What has happened, as ``child:1 asked``, ``child:1 answered``, ``child:1 faulted``."""

    def __init__(self) -> None:
        self._reached: dict[str, asyncio.Event] = {}

    def reach(self, caller: str, what: str) -> None:
        """Says that it happened."""
        self._of(f"{caller} {what}").set()

    async def wait(self, names: tuple[str, ...], patience: float, gone: asyncio.Event) -> None:
        """Returns when all of them have happened, patience is over or the client has gone."""
        if not names:
            return
        waiting = asyncio.create_task(self._all(names))
        leaving = asyncio.create_task(gone.wait())
        both = (waiting, leaving)
        try:
            await asyncio.wait(both, timeout=patience, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for each in both:
                each.cancel()

    async def _all(self, names: tuple[str, ...]) -> None:
        for name in names:
            await self._of(name).wait()

    def _of(self, name: str) -> asyncio.Event:
        return self._reached.setdefault(name, asyncio.Event())
