"""What an owner's records come to, fact by fact, and where that is not what a play expects."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from runs.core.owner_log import Row, tell

_RESULT = ("text", "exit_code", "stopped", "why")


@dataclass(frozen=True, slots=True)
class Difference:
    """One fact that is `found` otherwise than `expected`."""

    fact: str
    expected: Any
    found: Any


def facts(rows: Sequence[Row]) -> dict[str, Any]:
    """Everything that a play can expect of an owner's records, by name.

    ``continuations`` and ``interrupts`` are what was written: interrupts as places of the
    parent's turns from 1, 0 for any other turn. ``secret``: a snapshot shows what
    authorises the run. The other names are those of the records.
    """
    story, turns = tell(rows), _turns(rows)
    attempts = list(story.attempts.values())
    return {
        **{key: story.result.get(key) for key in _RESULT},
        "continuations": len(story.written),
        "runs": sorted({str(row.get("run")) for row in _of(rows, "continue")}),
        "interrupts": [turns.index(t) + 1 if t in turns else 0 for t in story.interrupted],
        "retired": story.retired,
        "retires": len(_of(rows, "retire")),
        "emits": [row.get("text") for row in _of(rows, "emit")],
        "shown": [row.get("text") for row in _of(rows, "show")],
        "void": [one.get("void") for one in attempts],
        "acknowledged": [one.get("acknowledged") for one in attempts],
        "children": len(story.children),
        "results": story.results,
        "closes": len(_of(rows, "close")),
        "outcome": story.outcome,
        "reads": len(_of(rows, "listturns")),
        "secret": any("proof" in row for row in _of(rows, "snapshot")),
    }


def differences(rows: Sequence[Row], expected: Mapping[str, Any]) -> list[Difference]:
    """Where the facts are not as expected, in the order of the expectations."""
    found = facts(rows)
    return [
        Difference(name, value, found.get(name))
        for name, value in expected.items()
        if found.get(name) != value
    ]


def _of(rows: Sequence[Row], what: str) -> list[Row]:
    return [row for row in rows if row.get("what") == what]


def _turns(rows: Sequence[Row]) -> list[str]:
    return list(dict.fromkeys(str(row["id"]) for row in _of(rows, "turn")))
