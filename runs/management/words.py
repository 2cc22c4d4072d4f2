"""Reading what people write behind ``--set``."""

from __future__ import annotations

from collections.abc import Iterable

from runs.errors import UnknownName


def pairs(given: Iterable[str]) -> dict[str, str]:
    """``KEY=VALUE`` texts as a mapping; UnknownName for one without ``=``."""
    found = {}
    for text in given:
        key, equals, value = text.partition("=")
        if not equals or not key:
            raise UnknownName(f"--set {text!r} has no '='.", "Write --set KEY=VALUE.")
        found[key] = value
    return found
