"""JSON Schema to the condensed form of a type, as the tables of this package keep it.

A condensed type is one of ``"string" "boolean" "any" "null" "f64"``, the name of an integer
(``"i64" "u32" "usize"`` …), ``"@Name"`` for a named type, or a list that begins with its form::

    ["option", T]  ["list", T]  ["map", T]
    ["struct", {field: T}, [required field, …]]
    ["words", [word, …]]                    a closed set of strings
    ["mixed", [word, …], {word: T}]         strings, or an object with one key of these
    ["tagged", key, {word: struct}]         objects told apart by one key
    ["untagged", [T, …]]                    the first that fits
    ["both", struct, T]                     a struct whose keys are also those of T

A binary that was asked adds to a form what its refusals show: all words that it takes in its
order (fourth in "mixed" and "tagged"), its own name of the type (last in "tagged", third in
"untagged").
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Type = Any
"""A condensed type: JSON as the module's text says."""
INTEGERS = {
    "int32": "i32",
    "int64": "i64",
    "uint": "usize",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
}


def condensed(schema: Any) -> Type:
    """The condensed form of a JSON Schema (draft 7, as the binary writes it)."""
    if not isinstance(schema, Mapping):
        return "any"
    if "$ref" in schema:
        return "@" + str(schema["$ref"]).rpartition("/")[2]
    if len(schema.get("allOf", ())) == 1:
        return condensed(schema["allOf"][0])
    if "properties" not in schema:
        for key in ("anyOf", "oneOf"):
            if key in schema:
                return _choice(list(schema[key]))
    return _plain(schema)


def _choice(choices: list[Any]) -> Type:
    present = [one for one in choices if one != {"type": "null"}]
    if len(present) < len(choices):
        return ["option", _choice(present)]
    if len(present) == 1:
        return condensed(present[0])
    return _words(present) or _tagged(present) or _mixed(present) or ["untagged", _all(present)]


def _all(choices: list[Any]) -> list[Type]:
    return [condensed(one) for one in choices]


def _words(choices: list[Any]) -> Type | None:
    if all("enum" in one for one in choices):
        return ["words", [word for one in choices for word in one["enum"]]]
    return None


def _tagged(choices: list[Any]) -> Type | None:
    """Objects that share a key with one word each."""
    shared: set[str] | None = None
    for one in choices:
        keys = {
            key
            for key, inner in one.get("properties", {}).items()
            if isinstance(inner, Mapping) and len(inner.get("enum", ())) == 1
        }
        shared = keys if shared is None else shared & keys
    for key in sorted(shared or (), key=lambda key: (key != "type", key)):
        words = [one["properties"][key]["enum"][0] for one in choices]
        if len(set(words)) == len(words):
            return ["tagged", key, dict(zip(words, map(condensed, choices), strict=True))]
    return None


def _mixed(choices: list[Any]) -> Type | None:
    words: list[str] = []
    loaded: dict[str, Type] = {}
    for one in choices:
        if "enum" in one:
            words += one["enum"]
        elif one.get("additionalProperties") is False and len(one.get("required", ())) == 1:
            name = one["required"][0]
            loaded[name] = condensed(one["properties"][name])
        else:
            return None
    return ["mixed", words, loaded]


def _plain(schema: Mapping[str, Any]) -> Type:
    kind = schema.get("type")
    if isinstance(kind, list):
        rest = [one for one in kind if one != "null"]
        inner = condensed({**schema, "type": rest[0]}) if len(rest) == 1 else "any"
        return ["option", inner] if "null" in kind and inner != "any" else inner
    if "enum" in schema:
        return ["words", list(schema["enum"])]
    if kind == "array":
        return ["list", condensed(schema.get("items"))]
    if kind == "object" or "properties" in schema:
        return _object(schema)
    if kind == "integer":
        return INTEGERS.get(str(schema.get("format")), "i64")
    return {"number": "f64", "string": "string", "boolean": "boolean", "null": "null"}.get(
        str(kind), "any"
    )


def _object(schema: Mapping[str, Any]) -> Type:
    fields = {name: condensed(inner) for name, inner in schema.get("properties", {}).items()}
    more = schema.get("additionalProperties")
    if not fields and more is not None and more is not False:
        return ["map", condensed(more)]
    form = ["struct", fields, list(schema.get("required", ()))]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return ["both", form, _choice(list(schema[key]))]
    return form
