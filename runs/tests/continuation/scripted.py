"""Plays an owner against scripted notifications: what it hears, when, and what it wanted.

A play is a list of what happens. ``Later(…)`` has already arrived when the owner next looks at
what has arrived (its Settle or Approach); plain items are told one by one.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from runs.core import owning as o
from runs.core.continuation import Owner
from runs.core.owner_log import Log

P, RUN = "parent-thread", "run-1"
WINDOW, WARN, GIVE_UP = 10.0, 20.0, 40.0


@dataclass(frozen=True)
class Later:
    """Arrived behind what was told last."""

    heard: tuple[o.Heard, ...]


@dataclass(frozen=True)
class Wait:
    """The clock moves on."""

    seconds: float


Step = o.Heard | Later | Wait


@dataclass
class Record:
    """Everything that the owner wanted, in order, and the owner itself."""

    owner: Owner
    wants: list[Any] = field(default_factory=list)
    now: float = 0.0
    rows: list[dict[str, Any]] = field(default_factory=list)
    """What a log of it holds."""
    log: Log | None = None

    def of(self, kind: type) -> list[Any]:
        """The wants of one kind."""
        return [want for want in self.wants if isinstance(want, kind)]

    @property
    def result(self) -> o.Finalize | None:
        """The first result."""
        found = self.of(o.Finalize)
        return found[0] if found else None

    @property
    def packets(self) -> list[Any]:
        """What was written to the provider."""
        return [w for w in self.wants if isinstance(w, o.Continue | o.Interrupt | o.ListTurns)]


def play(steps: Iterable[Step], breaks: str = "") -> Record:
    """Run a play on an owner; `breaks` is the rule that it does not keep."""
    owner = Owner(
        RUN, P, proof="secret-proof", breaks=breaks,
        window=WINDOW, warn_after=WARN, give_up_after=GIVE_UP,
    )  # fmt: skip
    record = Record(owner, log=Log(owner))
    arrived: list[o.Heard] = []
    steps = list(steps)
    for number, step in enumerate(steps):
        if isinstance(step, Wait):
            record.now += step.seconds
            tell(record, o.Tick(), arrived)
        elif isinstance(step, Later):
            arrived += step.heard
        else:
            # What was told to be behind this one is known before it is heard.
            while isinstance(following := _after(steps, number), Later):
                arrived += following.heard
                steps.remove(following)
            tell(record, step, arrived)
            while arrived:
                tell(record, arrived.pop(0), arrived)
    return record


def _after(steps: list[Step], number: int) -> Step | None:
    return steps[number + 1] if number + 1 < len(steps) else None


def tell(record: Record, heard: o.Heard, arrived: list[o.Heard]) -> None:
    """One thing is heard; what the owner wants of its transport is done at once."""
    record.now += 0.01
    wants = record.owner.feed(heard, record.now)
    record.rows += record.log.after(heard, wants) if record.log is not None else []
    for want in wants:
        record.wants.append(want)
        if isinstance(want, o.Settle | o.Approach):
            while arrived:
                tell(record, arrived.pop(0), arrived)
        if isinstance(want, o.Settle):
            tell(record, o.Quiet(), arrived)
        elif isinstance(want, o.Approach):
            tell(record, o.AtWrite(what=want.what, turn=want.turn), arrived)


# Words for plays


def start(turn: str, thread: str = P, generation: int = 1) -> o.TurnStarted:
    return o.TurnStarted(thread=thread, turn=turn, generation=generation)


def end(turn: str, status: str = "completed", thread: str = P, generation: int = 1) -> o.TurnEnded:
    return o.TurnEnded(thread=thread, turn=turn, status=status, generation=generation)


def says(turn: str, text: str, generation: int = 1) -> o.Said:
    return o.Said(thread=P, turn=turn, text=text, generation=generation)


def spawn(child: str, turn: str = "t1", sender: str = P) -> o.Spawned:
    return o.Spawned(sender=sender, child=child, turn=turn)


def child_ends(child: str, how: str = "completed") -> o.ChildEnded:
    return o.ChildEnded(child=child, how=how)


def stop(run: str = RUN, cascade: bool = False) -> o.Stop:
    return o.Stop(run=run, cascade=cascade)


def later(*heard: o.Heard) -> Later:
    return Later(heard)


SPAWNED = (o.Accepted(turn="t1"), start("t1"), spawn("c1"), says("t1", "Waiting."))
"""A turn that spawns a child and says that it waits."""
WAITING = (*SPAWNED, end("t1"))
"""… and ends while the child runs."""
SECOND = (start("t2"), says("t2", "All done."), end("t2"))
