"""What each version's protocol looks like: from the installed bundle, or from the kept table.

Both are read in the condensed form of :mod:`fakes.codex_app_server`, whose tables the
stand-in checks its clients by: what it refuses and what the drift page shows is the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from fakes.codex_app_server.condense import SIDES, condense
from fakes.codex_app_server.grammar import Type
from fakes.codex_app_server.protocol import kept, versions
from runs.core.drift import KINDS, TYPES, WORDS, Description

Names = dict[str, dict[str, str]]
TAGS = ("type", "kind")
"""Keys whose one word tells a form, though there is no other one yet."""
DEEP = 8
"""Types within types that are spelled out."""


def shipped() -> list[str]:
    """Versions that are described without an installation."""
    return versions()


@lru_cache(maxsize=16)
def of_version(version: str, prepared: Path | None) -> Description | None:
    """The description of one version, None where neither a bundle nor a table is there."""
    if prepared is not None:
        try:
            return of_bundle(version, prepared)
        except (OSError, ValueError, KeyError, TypeError):
            pass
    return of_table(kept(version)) if version in shipped() else None


def of_bundle(version: str, folder: Path) -> Description:
    """The description of a bundle as the binary wrote it; OSError, ValueError, KeyError or
    TypeError where `folder` holds none."""
    return of_table(condense(version, folder))


def of_table(table: Mapping[str, Any]) -> Description:
    """The description of a condensed table: its sides, and its types by what they are."""
    found: dict[str, Names] = {_section(side): {} for side in SIDES}
    found |= {KINDS: {}, WORDS: {}, TYPES: {}}
    for side in SIDES:
        for method, line in table[side].items():
            found[_section(side)][method] = _keys(_resolved(line["params"], table["types"]))
    for name, form in table["types"].items():
        _define(name, form, found)
    return found


def _section(side: str) -> str:
    return side.removesuffix("s").replace("_", "-")


def _define(name: str, form: Type, found: Mapping[str, Names]) -> None:
    """One named type: words, kinds told apart by a word, or keys."""
    kind = form[0] if isinstance(form, list) else ""
    if kind == "both":
        found[TYPES][name] = _keys(form)
        _define(name, form[2], found)
    elif kind == "struct" and not _only(form):
        found[TYPES][name] = _keys(form)
    elif kind in ("words", "mixed", "tagged", "untagged", "struct"):
        words, kinds = _choices(form)
        if words:
            found[WORDS][name] = dict.fromkeys(words, "value")
        found[KINDS].update({f"{name}: {word}": keys for word, keys in kinds.items()})


def _choices(form: Type) -> tuple[list[str], Names]:
    """The plain words of a type, and its forms by the word that tells each."""
    kind = form[0]
    if kind == "words":
        return [str(word) for word in form[1]], {}
    if kind == "mixed":
        return form[1], {word: _loaded(word, inner) for word, inner in form[2].items()}
    if kind == "tagged":
        return [], {str(word): _keys(inner) for word, inner in form[2].items()}
    if kind == "struct":
        word, (_, fields, needed) = _only(form), form
        if not word and len(fields) == 1 and needed:
            word = needed[0]
            return [], {word: _loaded(word, fields[word])}
        return [], {word or ", ".join(needed): _keys(form)}
    words: list[str] = []
    kinds: Names = {}
    for inner in form[1] if kind == "untagged" else ():
        more, told = _choices(inner)
        words, kinds = words + more, kinds | told
    return words, kinds


def _loaded(word: str, inner: Type) -> dict[str, str]:
    """An object with one key: what is in it."""
    return _keys(inner) or {word: _word(inner) + "!"}


def _only(struct: Type) -> str:
    """The word of a form that is told by one, as an enumeration of one."""
    for key in struct[2]:
        form = struct[1].get(key)
        if key in TAGS and isinstance(form, list) and form[0] == "words" and len(form[1]) == 1:
            return str(form[1][0])
    return ""


def _resolved(form: Type, types: Mapping[str, Type]) -> Type:
    """The type behind names and options."""
    for _ in range(DEEP):
        if isinstance(form, str) and form.startswith("@"):
            form = types.get(form[1:])
        elif isinstance(form, list) and form[0] == "option":
            form = form[1]
    return form


def _keys(form: Type) -> dict[str, str]:
    """The keys of a struct with a word for each; none of anything else."""
    if not isinstance(form, list) or form[0] not in ("struct", "both"):
        return {}
    _, fields, needed = form if form[0] == "struct" else form[1]
    return {key: _word(inner) + ("!" if key in needed else "") for key, inner in fields.items()}


def _word(form: Type, depth: int = 0) -> str:
    """One word for a type."""
    if isinstance(form, str):
        return form.removeprefix("@")
    kind = form[0]
    if kind in ("option", "list", "map") and depth < DEEP:
        inner = _word(form[1], depth + 1)
        return {"option": f"null|{inner}", "list": f"[{inner}]", "map": f"{{{inner}}}"}[kind]
    if kind == "words":
        return "/".join(str(word) for word in form[1][:DEEP])
    if kind == "untagged" and depth < DEEP:
        return "|".join(_word(inner, depth + 1) for inner in form[1])
    return "object"
