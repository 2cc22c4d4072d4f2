"""Cuts what the fake says to what a version says: unknown keys go, required ones get a value.

Messages are built once, with the keys of the newest version; each version's table then takes
away what that version does not know. So the differences follow the tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from fakes.codex_app_server.grammar import Type


def shaped(types: Mapping[str, Type], form: Type, value: Any) -> Any:
    """`value` without what `form` does not know, with null for what it wants and may be null."""
    if isinstance(form, str):
        return shaped(types, types[form[1:]], value) if form[:1] == "@" else value
    if value is None:
        return None
    kind = form[0]
    if kind == "option":
        return shaped(types, form[1], value)
    if kind == "list" and isinstance(value, list):
        return [shaped(types, form[1], one) for one in value]
    if kind == "map" and isinstance(value, dict):
        return {key: shaped(types, form[1], one) for key, one in value.items()}
    if kind == "struct" and isinstance(value, dict):
        return _struct(types, form, value)
    if kind == "tagged" and isinstance(value, dict):
        inner = form[2].get(value.get(form[1]))
        return value if inner is None else shaped(types, inner, value)
    if kind == "both" and isinstance(value, dict):
        return _both(types, form, value)
    return value


def _both(types: Mapping[str, Type], form: Type, value: dict[str, Any]) -> Any:
    """Keys of the struct and of what stands beside it."""
    outer = shaped(types, form[1], value)
    inner = shaped(types, form[2], value)
    return {**inner, **outer} if isinstance(inner, dict) else outer


def _struct(types: Mapping[str, Type], form: Type, value: dict[str, Any]) -> dict[str, Any]:
    found = {
        key: shaped(types, form[1][key], inner) for key, inner in value.items() if key in form[1]
    }
    for key in form[1]:
        if key not in found and _nullable(types, form[1][key]):
            found[key] = None
    return found


def _nullable(types: Mapping[str, Type], form: Type) -> bool:
    if isinstance(form, str):
        return _nullable(types, types[form[1:]]) if form[:1] == "@" else False
    return bool(form[0] == "option")
