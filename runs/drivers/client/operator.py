"""Whoever sits at our own client: stops it, replaces it, takes its transport, at checkpoints.

An operator's step is ``{"at": CHECKPOINT, "until": …, "do": …}``. A checkpoint is a place in the
client's own work, counted: ``start:1``, ``turn:1``, ``settle:1``, ``waiting:1``, ``continue:1``,
``sent:1``, ``interrupt:1``, ``closed:1``. ``until`` waits there for what arrives: ``{"method",
"count", "own", "item"}`` (own: on the owner's thread); with ``upto`` the client looks no further
than that message. ``do`` is ``stop``, ``stop-other``, ``stop-cascade``, ``replace``,
``generation``, ``lose-answer`` or nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from runs.core import owning as o


class Operator:
    """The steps that are still to come."""

    def __init__(self, steps: Sequence[Mapping[str, Any]], run: str) -> None:
        self._steps = list(steps)
        self._counts: dict[str, int] = {}
        self._run = run

    def reach(self, place: str) -> list[Mapping[str, Any]]:
        """The steps of a checkpoint that the client has just reached."""
        self._counts[place] = self._counts.get(place, 0) + 1
        name = f"{place}:{self._counts[place]}"
        return [step for step in self._steps if step["at"] == name]

    def deed(self, word: str) -> o.Heard | None:
        """What the owner hears of a deed."""
        if word in ("stop", "stop-cascade"):
            return o.Stop(run=self._run, cascade=word == "stop-cascade")
        if word == "stop-other":
            return o.Stop(run=f"{self._run}-other")
        if word == "replace":
            return o.Replaced(run=f"{self._run}-next")
        if word == "generation":
            return o.NewGeneration(generation=2)
        return o.AnswerLost() if word == "lose-answer" else None
