"""One request for a page's modules: joins ES modules into one file when statics are collected.

The modules in the repository are what a browser runs in development; nothing is
translated. Joining only puts each module into a function of its own, in the order of
their imports, so that a page asks for one file instead of twenty. It knows the forms
that our modules use (named imports from "./x.js", ``export function|class|const``)
and refuses any other.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from django.conf import settings
from whitenoise.storage import CompressedStaticFilesStorage

FOLDER = "dashboard"
PAGES: tuple[tuple[str, ...], ...] = (("run", "live"), ("compare",), ("editor",))
"""The entry modules of each page that has many; its joined file is named after them."""
SHARED = "base"
"""Loaded by every page by itself, so it stays a module of its own."""
_IMPORT = re.compile(r'^import \{([^}]*)\} from "\./([\w-]+)\.js";\n', re.M)
_EXPORT = re.compile(r"^export (?=(?:async )?function\*? (\w+)|class (\w+)|const (\w+) =)", re.M)


class CannotJoin(Exception):
    """A module is written in a form that the joiner does not know."""


def joined_name(entries: Iterable[str]) -> str:
    """The file that holds the modules of these entries, below the static folder."""
    return f"{FOLDER}/page-{'-'.join(entries)}.js"


def scripts(entries: tuple[str, ...]) -> list[str]:
    """The static files that a page with these entry modules loads: one, if it was joined."""
    joined = joined_name(entries)
    if (Path(settings.STATIC_ROOT) / joined).is_file():
        return [joined]
    return [f"{FOLDER}/{name}.js" for name in entries]


def join(folder: Path, entries: Iterable[str]) -> str:
    """The text of one module that does what the entries and all that they import do."""
    sources: dict[str, str] = {}
    for entry in entries:
        _collect(folder, entry, sources, ())
    parts = [f'import * as {_place(SHARED)} from "./{SHARED}.js";']
    parts += [_wrapped(name, text) for name, text in sources.items()]
    return "\n".join(parts) + "\n"


def _collect(folder: Path, name: str, found: dict[str, str], above: tuple[str, ...]) -> None:
    """Add the module after all that it imports."""
    if name in found or name == SHARED:
        return
    if name in above:
        raise CannotJoin(f"{' → '.join((*above, name))}: a circle of imports.")
    text = (folder / f"{name}.js").read_text(encoding="utf-8")
    for _, other in _IMPORT.findall(text):
        _collect(folder, other, found, (*above, name))
    found[name] = text


def _wrapped(name: str, text: str) -> str:
    exported = ["".join(names) for names in _EXPORT.findall(text)]
    body = _EXPORT.sub("", _IMPORT.sub(_taken, text))
    left = re.search(r"^(import|export)\b.*", body, re.M)
    if left:
        raise CannotJoin(f"{name}.js: {left[0]}")
    gives = f"return {{ {', '.join(exported)} }};\n" if exported else ""
    return f"const {_place(name)} = (() => {{\n{body}{gives}}})();"


def _taken(found: re.Match[str]) -> str:
    names = re.sub(r"(\w+) as (\w+)", r"\1: \2", " ".join(found[1].split()))
    return f"const {{ {names} }} = {_place(found[2])};\n"


def _place(name: str) -> str:
    return "$" + name.replace("-", "_")


class JoiningStorage(CompressedStaticFilesStorage):  # type: ignore[misc]  # no types there
    """Collected statics: each page's modules joined as well, then everything packed."""

    def post_process(
        self, paths: dict[str, Any], dry_run: bool = False, **options: Any
    ) -> Iterator[Any]:
        """Write the joined files beside their modules before they are compressed."""
        if not dry_run:
            for entries in PAGES:
                name = joined_name(entries)
                file = Path(self.path(name))
                file.write_text(join(file.parent, entries), encoding="utf-8")
                paths[name] = (self, name)
        yield from super().post_process(paths, dry_run, **options)
