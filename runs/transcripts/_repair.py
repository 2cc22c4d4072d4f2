"""Mends a line that is not one JSON object, where that is certain."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

MOST_RECORDS = 10_000
MOST_STARTS = 200
LONGEST_NAME = 80
"""Letters of a text that may be an id: with one of them gone it names something else."""
_DECODER = json.JSONDecoder()
_LOOSE = json.JSONDecoder(strict=False)


@dataclass(slots=True)
class Repaired:
    """What could be saved of a line. `damage`: what, whether it is repaired, what is lost."""

    records: list[dict[str, Any]] = field(default_factory=list)
    damage: list[tuple[str, bool, str]] = field(default_factory=list)
    torn: bool = False
    """It looks like the first half of a record."""


def repair(line: bytes, envelope: frozenset[str]) -> Repaired:
    """The whole records of a line and what was wrong with it."""
    found = Repaired()
    if b"\0" in line:
        line = line.replace(b"\0", b"")
        if not line.strip():
            found.damage.append(("nul", False, "line"))
            return found
        found.damage.append(("nul", True, ""))
    if line.startswith(b"\xef\xbb\xbf"):
        line = line[3:]
        found.damage.append(("bom", True, ""))
    try:
        words, whole = line.decode("utf-8"), True
    except UnicodeDecodeError:
        words, whole = line.decode("utf-8", "replace"), False
    place = len(found.damage)
    _decode(words.strip(" \t\r\n"), envelope, found)
    if not whole:
        hurt = any(_name_hurt(record) for record in found.records)
        found.damage.insert(place, ("invalid-utf8", not hurt, "a name" if hurt else "characters"))
    return found


def _name_hurt(record: dict[str, Any]) -> bool:
    """Whether a key or what may be an id or a word (short, without a space) has lost a letter."""
    waiting: list[Any] = [record]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            if any("\ufffd" in key for key in value):
                return True
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        elif isinstance(value, str) and len(value) <= LONGEST_NAME:
            hurt = "\ufffd" in value and not any(letter.isspace() for letter in value)
            if hurt:
                return True
    return False


def _decode(words: str, envelope: frozenset[str], found: Repaired) -> None:
    try:
        _glued(words, envelope, found)
    except RecursionError:
        found.damage.append(("too-deep", False, "line"))
    except ValueError:
        # Such as a number of more digits than Python converts.
        found.damage.append(("not-json", False, "line"))


def _glued(words: str, envelope: frozenset[str], found: Repaired) -> None:
    """Objects one after another; a torn first one in front of a whole one."""
    position = 0
    pieces: list[dict[str, Any]] = []
    while position < len(words) and len(pieces) < MOST_RECORDS:
        try:
            value, position = _LOOSE.raw_decode(words, position)
        except json.JSONDecodeError:
            break
        if not isinstance(value, dict):
            found.damage.append(("not-json", False, "line"))
            return
        pieces.append(value)
        while position < len(words) and words[position] in " \t,\x1e":
            position += 1
    rest = words[position:]
    found.records.extend(pieces)
    if len(pieces) > 1:
        found.damage.append(("glued", True, ""))
    if not rest:
        if not pieces:
            found.damage.append(("not-json", False, "line"))
        elif len(pieces) == 1 and not found.damage and "\ufffd" not in words:
            found.damage.append(("not-json", True, "control characters"))
        return
    tail = _tail(rest, envelope)
    if tail is not None:
        record, torn = tail
        # What is torn may be the beginning of the very record that follows it whole.
        again = rest[len(torn) :].startswith(torn)
        found.records.append(record)
        found.damage.append(("half-line", again, "" if again else "record"))
    elif pieces:
        found.damage.append(("half-line", False, "record"))
    elif rest.startswith("{"):
        found.torn = True
    else:
        found.damage.append(("not-json", False, "line"))


def _tail(rest: str, envelope: frozenset[str]) -> tuple[dict[str, Any], str] | None:
    """A whole record at the end of a line, if that is certain, and what stands before it."""
    position = rest.find('{"', 1)
    for _ in range(MOST_STARTS):
        if position < 0:
            return None
        try:
            value, end = _DECODER.raw_decode(rest, position)
        except (ValueError, RecursionError):
            value, end = None, 0
        if isinstance(value, dict) and envelope <= set(value) and not rest[end:].strip():
            return value, rest[:position]
        position = rest.find('{"', position + 1)
    return None
