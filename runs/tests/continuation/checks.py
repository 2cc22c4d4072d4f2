"""What a rule of a waiting parent is, and how the record of its play is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from runs.core import owning as o
from runs.tests.continuation.scripted import P, Record, Step


@dataclass(frozen=True)
class Rule:
    """One rule: its number, what must not happen, a play, and the check of its record."""

    name: str
    failure: str
    steps: tuple[Step, ...]
    check: Callable[[Record], bool]


def ends_with(record: Record, text: str, turn: str = "t2", code: int = 0) -> bool:
    result = record.result
    return result is not None and (result.text, result.turn, result.exit_code) == (text, turn, code)


def once(record: Record) -> bool:
    return len(record.of(o.Finalize)) == 1 and len(record.of(o.Close)) == 1


def quiet_stop(record: Record) -> bool:
    result = record.result
    return bool(result and result.stopped) and not record.packets and not record.of(o.Retire)


def interrupts(record: Record, *turns: str) -> bool:
    return [(want.thread, want.turn) for want in record.of(o.Interrupt)] == [(P, t) for t in turns]
