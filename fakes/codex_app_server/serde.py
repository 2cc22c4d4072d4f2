"""Holds a value against a condensed type, with the words in which the real server refuses.

Like the real deserializer it goes through an object in the order in which its keys came,
then looks for what is missing, and stops at the first mistake. Keys that the type does not
know are accepted, and given to the caller as places (``$.input[0].extra``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from fakes.codex_app_server.grammar import Type


class Invalid(Exception):
    """The real server would refuse the value; the text is its text."""


def check(types: Mapping[str, Type], form: Type, value: Any, place: str = "$") -> list[str]:
    """The places of unknown keys in `value`; Invalid where the type forbids it."""
    return _Check(types).value(form, value, place, "")


def missing(field: str) -> Invalid:
    """The refusal of an object without that key."""
    return Invalid(f"missing field `{field}`")


def unknown_variant(word: str, known: Sequence[str]) -> Invalid:
    """The refusal of a word that is none of `known`."""
    return Invalid(f"unknown variant `{word}`, expected {_one_of(known)}")


class _Check:
    def __init__(self, types: Mapping[str, Type]) -> None:
        self._types = types

    def value(self, form: Type, value: Any, place: str, name: str) -> list[str]:
        if isinstance(form, str):
            if form.startswith("@"):
                return self._named(form[1:], value, place)
            return _plain(form, value)
        return list(getattr(self, f"_{form[0]}")(form, value, place, name))

    def _named(self, name: str, value: Any, place: str) -> list[str]:
        if name == "AbsolutePathBuf" and isinstance(value, str) and not value.startswith("/"):
            raise Invalid("AbsolutePathBuf deserialized without a base path")
        return self.value(self._types.get(name, "any"), value, place, name)

    def _option(self, form: Type, value: Any, place: str, name: str) -> list[str]:
        return [] if value is None else self.value(form[1], value, place, name)

    def _list(self, form: Type, value: Any, place: str, name: str) -> list[str]:
        if not isinstance(value, list):
            raise _type(value, "a sequence")
        return [
            one
            for number, inner in enumerate(value)
            for one in self.value(form[1], inner, f"{place}[{number}]", name)
        ]

    def _map(self, form: Type, value: Any, place: str, name: str) -> list[str]:
        if not isinstance(value, dict):
            raise _type(value, "a map")
        return [
            one
            for key, inner in value.items()
            for one in self.value(form[1], inner, f"{place}.{key}", name)
        ]

    def _struct(self, form: Type, value: Any, place: str, name: str) -> list[str]:
        if isinstance(value, list):
            wanted = f"struct {name} with {len(form[1])} elements"
            raise Invalid(f"invalid length {len(value)}, expected {wanted}")
        if not isinstance(value, dict):
            raise _type(value, f"struct {name}")
        found = []
        for key, inner in value.items():
            if key in form[1]:
                found += self.value(form[1][key], inner, f"{place}.{key}", name)
            else:
                found.append(f"{place}.{key}")
        for key in form[2]:
            if key not in value:
                raise missing(key)
        return found

    def _words(self, form: Type, value: Any, place: str, name: str) -> list[str]:
        return self._mixed(["mixed", form[1], {}], value, place, name)

    def _mixed(self, form: Type, value: Any, place: str, name: str) -> list[str]:
        known = form[3] if len(form) > 3 else [*form[1], *form[2]]
        if isinstance(value, str):
            if value not in known:
                raise unknown_variant(value, known)
            if value in form[2]:
                kind = "struct" if form[2][value][0] == "struct" else "newtype"
                raise Invalid(f"invalid type: unit variant, expected {kind} variant")
            return []
        if not isinstance(value, dict):
            raise _type(value, "string or map")
        if len(value) != 1:
            raise Invalid("invalid value: map, expected map with a single key")
        ((word, inner),) = value.items()
        if word not in known:
            raise unknown_variant(word, known)
        if word in form[2]:
            return self.value(form[2][word], inner, f"{place}.{word}", word)
        if inner is not None:
            raise _type(inner, "unit")
        return []

    def _tagged(self, form: Type, value: Any, place: str, name: str) -> list[str]:
        key, variants = form[1:3]
        known, own = form[3:] or (list(variants), "")
        if not isinstance(value, dict):
            raise _type(value, f"internally tagged enum {own or name}")
        if key not in value:
            raise missing(key)
        if not isinstance(value[key], str):
            raise _type(value[key], "variant identifier")
        if value[key] not in known:
            raise unknown_variant(value[key], known)
        return self.value(variants.get(value[key], "any"), value, place, name)

    def _untagged(self, form: Type, value: Any, place: str, name: str) -> list[str]:
        for inner in form[1]:
            try:
                return self.value(inner, value, place, name)
            except Invalid:
                continue
        own = form[2] if len(form) > 2 else name
        raise Invalid(f"data did not match any variant of untagged enum {own}".rstrip())

    def _both(self, form: Type, value: Any, place: str, name: str) -> list[str]:
        unknown = self.value(form[1], value, place, name)
        more = set(self.value(form[2], value, place, name))
        return [one for one in unknown if one in more]


def _plain(form: str, value: Any) -> list[str]:
    if form == "any" or (form == "null" and value is None):
        return []
    if form == "string":
        if not isinstance(value, str):
            raise _type(value, "a string")
    elif form == "boolean":
        if not isinstance(value, bool):
            raise _type(value, "a boolean")
    elif form == "f64":
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _type(value, "f64")
    elif form == "null":
        raise _type(value, "unit")
    else:
        _integer(form, value)
    return []


def _integer(form: str, value: Any) -> None:
    if isinstance(value, bool) or not isinstance(value, int):
        raise _type(value, form)
    bits = 64 if form == "usize" else int(form[1:])
    low, high = (-(2 ** (bits - 1)), 2 ** (bits - 1)) if form[0] == "i" else (0, 2**bits)
    if not low <= value < high:
        raise Invalid(f"invalid value: integer `{value}`, expected {form}")


def _type(value: Any, expected: str) -> Invalid:
    return Invalid(f"invalid type: {_described(value)}, expected {expected}")


def _described(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return f"boolean `{str(value).lower()}`"
    if isinstance(value, int):
        return f"integer `{value}`"
    if isinstance(value, float):
        return f"floating point `{value}`"
    if isinstance(value, str):
        return f"string {json.dumps(value, ensure_ascii=False)}"
    return "sequence" if isinstance(value, list) else "map"


def _one_of(words: Sequence[str]) -> str:
    quoted = [f"`{word}`" for word in words]
    if len(quoted) > 2:
        return "one of " + ", ".join(quoted)
    return " or ".join(quoted) or "nothing"
