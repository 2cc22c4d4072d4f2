"""Asks a binary what its schemas do not tell but its error texts do.

In which order fields are missed and words are listed (and which old ones are still taken),
by which name a type or a gated field is refused, and whether an empty list is let through a
gate.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from typing import Any

from fakes.codex_app_server.condense import Table
from fakes.codex_app_server.grammar import Type

Ask = Callable[[str, Any], str]
"""The text with which the binary refuses a method with these parameters, empty if it does not."""
Wrap = Callable[[Any], Any]
NO_WORD = "?"
DEEP = 12


def refine(table: Table, ask: Ask) -> None:
    """Puts fields and words of the table into the binary's order, with its names of types.
    `ask` was not introduced: nothing that it says can be carried out."""
    table["listed"] = _listed(ask(NO_WORD, None))
    seen: set[int] = set()
    for method, line in table["client_requests"].items():
        if line["params"] is not None:
            for form, wrap in _reach(table, line["params"], lambda value: value, seen, 0):
                _asked(table, form, _through(ask, method, wrap))


def _reach(
    table: Table, form: Type, wrap: Wrap, seen: set[int], depth: int
) -> Iterator[tuple[Type, Wrap]]:
    """Types that a request can hold, each once, with how to put a value there. The first
    mistake in the order of the keys is the one that is refused, so nothing else is needed."""
    if isinstance(form, str):
        if form.startswith("@"):
            yield from _reach(table, table["types"][form[1:]], wrap, seen, depth)
        return
    if id(form) in seen or depth > DEEP:
        return
    seen.add(id(form))
    if form[0] == "tagged":
        seen.update(id(inner[1].get(form[1])) for inner in form[2].values() if inner[0] == "struct")
    if form[0] in ("struct", "words", "mixed", "tagged", "both"):
        yield form, wrap
    for inner, around in _parts(form, wrap):
        yield from _reach(table, inner, around, seen, depth + 1)


def _parts(form: Type, wrap: Wrap) -> Iterator[tuple[Type, Wrap]]:
    """The types inside a type. Of several untagged forms none is named in a refusal."""
    kind = form[0]
    if kind == "option":
        yield form[1], wrap
    elif kind == "list":
        yield form[1], lambda value: wrap([value])
    elif kind == "map":
        yield form[1], _under(wrap, "k")
    elif kind in ("struct", "mixed"):
        for key, inner in form[1 if kind == "struct" else 2].items():
            yield inner, _under(wrap, key)
    elif kind == "tagged":
        for word, inner in form[2].items():
            yield inner, _tagging(wrap, form[1], word)


def _through(ask: Ask, method: str, wrap: Wrap) -> Callable[[Any], str]:
    return lambda value: ask(method, wrap(value))


def _under(wrap: Wrap, key: str) -> Wrap:
    return lambda value: wrap({key: value})


def _tagging(wrap: Wrap, key: str, word: str) -> Wrap:
    return lambda value: wrap({key: word, **value} if isinstance(value, dict) else value)


def _asked(table: Table, form: Type, refusal: Callable[[Any], str]) -> None:
    kind = form[0]
    if kind == "struct":
        if len(form[2]) > 1:
            form[2][:] = _missed(table, form, refusal)
    elif kind == "both":
        named = re.search(r"any variant of untagged enum (\w+)", refusal({}))
        if named and form[2][0] == "untagged":
            form[2][2:] = [named[1]]
    elif kind == "tagged":
        named = re.search(r"internally tagged enum (\w+)", refusal(NO_WORD))
        listed = _listed(refusal({form[1]: NO_WORD})) or list(form[2])
        form[3:] = [listed, named[1] if named else ""]
    else:
        listed = _listed(refusal(NO_WORD))
        if listed and listed != [*form[1], *(form[2] if kind == "mixed" else ())]:
            form[:] = ["mixed", form[1], form[2] if kind == "mixed" else {}, listed]


def _listed(text: str) -> list[str]:
    """The words that a refusal of an unknown one lists."""
    found = re.search(rf"unknown variant `{re.escape(NO_WORD)}`, expected (.*)", text)
    return re.findall(r"`([^`]*)`", found[1]) if found else []


def _missed(table: Table, form: Type, refusal: Callable[[Any], str]) -> list[str]:
    """The required fields in the order in which the binary misses them."""
    found: list[str] = []
    while len(found) < len(form[2]):
        text = refusal({name: sample(table, form[1][name]) for name in found})
        missing = re.search(r"missing field `([^`]*)`", text)
        if not missing or missing[1] in found or missing[1] not in form[2]:
            break
        found.append(missing[1])
    return found + [name for name in form[2] if name not in found]


def name_gates(table: Table, ask: Ask) -> None:
    """The names by which gated fields are refused, where they are not the fields' own, and
    the fields that are refused only when there is something in them. `ask` was introduced
    without the experimental capability."""
    for method, line in table["client_requests"].items():
        name = str(line["params"])[1:]
        for key in table["gated"]["fields"].get(name, ()):
            form = table["types"][name]
            params = {one: sample(table, form[1][one]) for one in form[2]}
            text = ask(method, {**params, key: sample(table, form[1][key], present=True)})
            found = re.fullmatch(r"(.*)\.(\w+) requires experimentalApi capability", text)
            if found is None:
                table["gated"]["filled"] = sorted({*table["gated"]["filled"], key})
            elif found[2] != key:
                table["gated"]["names"][key] = found[2]


def sample(table: Table, form: Type, depth: int = 0, *, present: bool = False) -> Any:
    """The smallest value of a type; `present`: one that is neither null nor false."""
    if isinstance(form, str):
        if form.startswith("@"):
            return sample(table, table["types"][form[1:]], depth + 1) if depth < DEEP else None
        return {"string": "/s", "boolean": present, "any": {}, "null": None}.get(form, 1)
    kind, *rest = form
    if kind == "option":
        return sample(table, rest[0], depth + 1, present=True) if present else None
    if kind == "struct":
        return {name: sample(table, rest[0][name], depth + 1) for name in rest[1]}
    if kind == "tagged":
        word, inner = next(iter(rest[1].items()))
        return {**sample(table, inner, depth + 1), rest[0]: word}
    if kind == "mixed" and not rest[0]:
        word, inner = next(iter(rest[1].items()))
        return {word: sample(table, inner, depth + 1)}
    if kind in ("untagged", "both"):
        return sample(table, rest[0][0] if kind == "untagged" else rest[0], depth + 1)
    return {"list": [], "map": {}}[kind] if kind in ("list", "map") else rest[0][0]
