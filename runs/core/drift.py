"""Schema drift: which event types and keys appear, vanish or change between two versions.

A description says what a version's records look like: by section (a side of a protocol,
a view of recorded runs), by name (a method, a record type), the keys with a word for
each (``string``, ``null|string``, ``[Turn]``, with ``!`` where it is required). It is made from a
protocol's JSON Schemas, or from records that were seen. Pure.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

Description = Mapping[str, Mapping[str, Mapping[str, str]]]
"""Section → name → key → word."""
WORDS = "words"
KINDS = "kinds"
TYPES = "types"
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


# From a protocol's schemas


def of_schemas(documents: Mapping[str, Mapping[str, Any]]) -> Description:
    """The description of a protocol. `documents`: by side, the schema that lists its methods."""
    sections: dict[str, dict[str, dict[str, str]]] = {side: {} for side in documents}
    shared: dict[str, dict[str, dict[str, str]]] = {KINDS: {}, WORDS: {}, TYPES: {}}
    for side, document in documents.items():
        known = _mapping(document.get("definitions"))
        for entry in _items(document.get("oneOf")):
            method = _constant(_mapping(_mapping(entry.get("properties")).get("method")))
            if method:
                params = _mapping(_mapping(entry.get("properties")).get("params"))
                sections[side][method] = _keys(_resolved(params, known))
        for name, schema in known.items():
            _define(str(name), _mapping(schema), shared)
    return {**sections, **shared}


def _define(
    name: str, schema: Mapping[str, Any], shared: Mapping[str, dict[str, dict[str, str]]]
) -> None:
    """One definition: an enumeration, a union told apart by a word, or a plain type."""
    choices = [_mapping(one) for key in ("oneOf", "anyOf") for one in _items(schema.get(key))]
    words = [word for one in (schema, *choices) for word in _items(one.get("enum"))]
    if words:
        shared[WORDS].setdefault(name, {}).update({str(word): "value" for word in words})
    told = False
    for choice in choices:
        tag = _tag(choice)
        if tag:
            told = True
            shared[KINDS].setdefault(f"{name}: {tag}", {}).update(_keys(choice))
    if not told and schema.get("properties"):
        shared[TYPES].setdefault(name, {}).update(_keys(schema))


def _tag(choice: Mapping[str, Any]) -> str:
    for key in ("type", "kind", "method"):
        word = _constant(_mapping(_mapping(choice.get("properties")).get(key)))
        if word:
            return word
    keys = list(_mapping(choice.get("properties")))
    return str(keys[0]) if len(keys) == 1 and choice.get("required") == keys else ""


def _constant(schema: Mapping[str, Any]) -> str:
    words = _items(schema.get("enum"))
    return str(words[0]) if len(words) == 1 else str(schema.get("const") or "")


def _resolved(schema: Mapping[str, Any], known: Mapping[str, Any]) -> Mapping[str, Any]:
    for choice in (schema, *map(_mapping, _items(schema.get("anyOf")))):
        if "$ref" in choice:
            return _mapping(known.get(_name(choice)))
    return schema


def _keys(schema: Mapping[str, Any]) -> dict[str, str]:
    needed = set(_items(schema.get("required")))
    return {
        str(key): _word(_mapping(inner)) + ("!" if key in needed else "")
        for key, inner in list(_mapping(schema.get("properties")).items())[:MOST_KEYS]
    }


def _word(schema: Mapping[str, Any], depth: int = 0) -> str:
    """One word for a type."""
    if "$ref" in schema:
        return _name(schema)
    if _items(schema.get("enum")):
        return "/".join(str(word) for word in _items(schema.get("enum"))[:8])
    kind = schema.get("type")
    if kind == "array" and depth < 3:
        return f"[{_word(_mapping(schema.get('items')), depth + 1)}]"
    if isinstance(kind, list):
        return "|".join(sorted(str(one) for one in kind))
    choices = [*_items(schema.get("anyOf")), *_items(schema.get("oneOf"))]
    choices += _items(schema.get("allOf"))
    if choices and depth < 3:
        return "|".join(sorted({_word(_mapping(one), depth + 1) for one in choices}))
    return str(kind or "any")


def _name(schema: Mapping[str, Any]) -> str:
    return str(schema.get("$ref")).rpartition("/")[2]


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


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _items(value: Any) -> Sequence[Any]:
    return value if isinstance(value, list) else ()
