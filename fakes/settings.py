"""Settings: the fields of a fault, a script or a target, described once.

A field made with :func:`setting` is at once a form field, a TOML key and what a
run stores. :func:`describe` lists them for pages, :func:`build` makes the object
from a mapping and refuses unknown keys and values out of bounds, naming the key.
"""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, TypeVar

T = TypeVar("T")

WORDS = {bool: "true or false", int: "a whole number", float: "a number", str: "a text"}


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting as pages show it. `kind`: int, float, bool, text, choice or list."""

    key: str
    kind: str
    default: Any
    help: str
    unit: str = ""
    low: float | None = None
    high: float | None = None
    choices: tuple[str, ...] = ()


def setting(
    default: Any,
    help: str,
    *,
    unit: str = "",
    low: float | None = None,
    high: float | None = None,
    choices: tuple[str, ...] = (),
) -> Any:
    """A dataclass field that says what it means and what it may be."""
    return field(
        default=default,
        metadata={"help": help, "unit": unit, "low": low, "high": high, "choices": choices},
    )


def describe(owner: type[Any]) -> tuple[Setting, ...]:
    """The settings of a dataclass, in the order of its fields."""
    return tuple(_described(each) for each in fields(owner) if "help" in each.metadata)


def _described(each: dataclasses.Field[Any]) -> Setting:
    kinds = {bool: "bool", int: "int", float: "float", str: "text", tuple: "list"}
    kind = "choice" if each.metadata["choices"] else kinds[type(each.default)]
    return Setting(key=each.name, kind=kind, default=each.default, **each.metadata)


def build(owner: type[T], values: Mapping[str, Any], what: str) -> T:
    """The object with these settings; ValueError names the key, `what` says of which thing."""
    known = {each.key: each for each in describe(owner)}
    for key in values:
        if key not in known:
            raise ValueError(f"{what} has no setting {key!r}{nearest(key, known)}")
    return owner(**{key: _checked(known[key], value, what) for key, value in values.items()})


def stored(thing: Any) -> dict[str, Any]:
    """The settings of an object as plain data (tuples become lists)."""
    values = {each.key: getattr(thing, each.key) for each in describe(type(thing))}
    return {key: list(v) if isinstance(v, tuple) else v for key, v in values.items()}


def nearest(name: str, known: Iterable[str]) -> str:
    """The end of an error message: ``; did you mean 'x'?`` or ``; it has: …``."""
    names = list(known)
    close = difflib.get_close_matches(name, names, n=1, cutoff=0.5)
    if close:
        return f"; did you mean {close[0]!r}?"
    return f"; there is: {', '.join(names) or 'none'}."


def _checked(each: Setting, value: Any, what: str) -> Any:
    where = f"{what}: {each.key}"
    if each.kind == "choice":
        if value not in each.choices:
            raise ValueError(f"{where} is one of {', '.join(each.choices)}, not {value!r}")
        return value
    if each.kind == "list":
        if isinstance(value, str) or not isinstance(value, (list, tuple)):
            raise ValueError(f"{where} must be a list, not {value!r}")
        return tuple(str(item) for item in value)
    number = _typed(each, value, where)
    _bounded(each, number, where)
    return number


def _typed(each: Setting, value: Any, where: str) -> Any:
    wanted = type(each.default)
    if wanted is float and type(value) is int:
        return float(value)
    if type(value) is not wanted:
        raise ValueError(f"{where} must be {WORDS[wanted]}, not {value!r}")
    return value


def _bounded(each: Setting, value: Any, where: str) -> None:
    if isinstance(value, float) and value != value:
        raise ValueError(f"{where} must be a number, not nan")
    if each.low is not None and value < each.low:
        raise ValueError(f"{where} must be at least {each.low:g}, not {value}")
    if each.high is not None and value > each.high:
        raise ValueError(f"{where} must be at most {each.high:g}, not {value}")


def from_text(owner: type[Any], values: Mapping[str, str], what: str) -> dict[str, Any]:
    """Texts of a command line or a form in the types of the settings; ValueError names the key."""
    known = {each.key: each for each in describe(owner)}
    return {
        key: _from_text(known[key], text, what) if key in known else text
        for key, text in values.items()
    }


def _from_text(each: Setting, text: str, what: str) -> Any:
    where = f"{what}: {each.key}"
    if each.kind == "list":
        return [part.strip() for part in text.split(";") if part.strip()]
    if each.kind == "bool":
        if text.lower() not in ("true", "false", "yes", "no", "1", "0", "on", "off"):
            raise ValueError(f"{where} must be true or false, not {text!r}")
        return text.lower() in ("true", "yes", "1", "on")
    if each.kind in ("int", "float"):
        try:
            return int(text) if each.kind == "int" else float(text)
        except ValueError:
            raise ValueError(f"{where} must be {WORDS[type(each.default)]}, not {text!r}") from None
    return text
