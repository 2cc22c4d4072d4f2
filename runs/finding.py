"""Looks through a text for secrets: as it stands, as people read it, and decoded."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from typing import NamedTuple

import runs.detectors
from fakes.registry import members
from runs import encoded
from runs.detectors._base import Detector
from runs.errors import HarnessError

LAYERS = 3
"""How often a word is decoded, to be looked through."""


class RedactionFailed(HarnessError):
    """Nothing was exported, because what must not leave could not be found out."""


class Secret(NamedTuple):
    """A secret of this sort in a text, from `start` to `end` (as in a slice)."""

    name: str
    start: int
    end: int


Known = Callable[[str], Iterable[Secret]]
"""The secrets in a text that are known from elsewhere."""


@cache
def detectors() -> Mapping[str, Detector]:
    """Every detector by name."""
    return {each.name: each for each in members(runs.detectors, "DETECTOR").values()}


def found(
    text: str, names: Iterable[str], known: Known, layers: int = LAYERS
) -> list[tuple[str, str]]:
    """(sort, value) of all that these detectors find; RedactionFailed when one crashes."""
    spans, inside = _read(text, names, known, layers)
    view = encoded.plain(text) if layers else None
    if view is not None:
        seen, deeper = _read(view.text, names, known, layers)
        seen += known(view.text)
        spans += [Secret(one.name, *view.place(one.start, one.end)) for one in seen]
        inside += [*deeper, *((one.name, view.text[one.start : one.end]) for one in seen)]
    spans += _together(spans)
    return [*((one.name, text[one.start : one.end]) for one in spans), *inside]


def _read(
    text: str, names: Iterable[str], known: Known, layers: int
) -> tuple[list[Secret], list[tuple[str, str]]]:
    """What stands in the text itself, and what its words say once they are decoded.

    A word that says a secret goes as a whole.
    """
    spans, inside = _detected(text, names), []
    for start, end, said in encoded.words(text) if layers else ():
        deeper = found(said, names, known, layers - 1)
        deeper = deeper or [(one.name, said[one.start : one.end]) for one in known(said)][:1]
        spans += [Secret(name, start, end) for name, _ in deeper[:1]]
        inside += deeper
    return spans, inside


def _together(spans: list[Secret]) -> list[Secret]:
    """What begins in one secret and ends in another is one as a whole."""
    merged: list[Secret] = []
    reach: Secret | None = None
    for one in sorted(spans, key=lambda each: (each.start, -each.end)):
        if reach is None or one.start >= reach.end:
            reach = one
        elif one.end > reach.end:
            reach = Secret(reach.name, reach.start, one.end)
            merged.append(reach)
    return merged


def _detected(text: str, names: Iterable[str]) -> list[Secret]:
    values: list[Secret] = []
    for name in names:
        try:
            values += [Secret(name, *span) for span in detectors()[name].find(text)]
        except Exception as trouble:
            raise RedactionFailed(
                f"The detector {name!r} failed ({type(trouble).__name__}).",
                "Nothing was exported: what it should find could have left.",
            ) from trouble
    return values
