"""Schema drift: which event types and keys appear, vanish or change between two versions.

A description says what a version's records look like: by section (a side of a protocol,
a view of recorded runs), by name (a method, a record type), the keys with a word for
each (``string``, ``null|string``, ``[Turn]``, with ``!`` where it is required). A driver makes it
from a protocol; here it is made from records that were seen. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

Description = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Section → name → key → word."""
WORDS, KINDS, TYPES = "words", "kinds", "types"
"""Sections of a protocol beside its sides: enumerations, forms told by a word, plain types."""
SEEN_DEPTH = 2
"""How deep the keys of seen records are told apart: ``payload.item`` and no deeper."""
MOST_KEYS = 400
"""Keys of one name that are kept."""


@dataclass(frozen=True, slots=True)
class KeyChange:
    """One key. `before` or `after` is empty where that version has no such key."""

    key: str
    before: str
    after: str

    @property
    def what(self) -> str:
        """``added``, ``removed`` or ``changed``."""
        return _what(bool(self.before), bool(self.after))


@dataclass(frozen=True, slots=True)
class Change:
    """One name of one section that differs, with the keys that do."""

    section: str
    name: str
    what: str
    keys: tuple[KeyChange, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        keys = [{"key": k.key, "before": k.before, "after": k.after} for k in self.keys]
        return {"section": self.section, "name": self.name, "what": self.what, "keys": keys}


def compare(before: Description, after: Description) -> list[Change]:
    """Every difference, by section and name; what one of the two does not describe is none.

    A section that only one of them has is left out: it was not looked at in the other.
    """
    found: list[Change] = []
    for section in [name for name in after if name in before]:
        old, new = before[section], after[section]
        for name in sorted({*old, *new}):
            change = _change(section, name, old.get(name), new.get(name))
            if change is not None:
                found.append(change)
    return found


def _change(
    section: str, name: str, old: Mapping[str, str] | None, new: Mapping[str, str] | None
) -> Change | None:
    keys = tuple(
        KeyChange(key, (old or {}).get(key, ""), (new or {}).get(key, ""))
        for key in sorted({*(old or {}), *(new or {})})
        if (old or {}).get(key) != (new or {}).get(key)
    )
    if old is not None and new is not None and not keys:
        return None
    return Change(section, name, _what(old is not None, new is not None), keys)


def _what(before: bool, after: bool) -> str:
    return "changed" if before and after else "added" if after else "removed"


# From records that were seen


def of_records(rows: Iterable[tuple[str, str, Any]]) -> Description:
    """The description of what was seen: rows of view, the agent's own name, and the record."""
    found: dict[str, dict[str, dict[str, set[str]]]] = {}
    for view, name, record in rows:
        keys = found.setdefault(view, {}).setdefault(name, {})
        if isinstance(record, Mapping):
            _see(record, "", keys, 1)
    return {
        view: {
            name: {key: "|".join(sorted(words)) for key, words in keys.items()}
            for name, keys in names.items()
        }
        for view, names in found.items()
    }


def _see(record: Mapping[str, Any], before: str, keys: dict[str, set[str]], depth: int) -> None:
    for key, value in record.items():
        path = f"{before}{key}"[:120]
        if path in keys or len(keys) < MOST_KEYS:
            keys.setdefault(path, set()).add(_seen_word(value))
        if isinstance(value, Mapping) and depth < SEEN_DEPTH:
            _see(value, f"{path}.", keys, depth + 1)


def _seen_word(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, (int, float)):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"
