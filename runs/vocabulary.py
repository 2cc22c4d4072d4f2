"""Lifeline's own words, told from secrets that look like them.

Somebody is called `max`, works in `/home/data`, and a log says `login: completed`. Such a value
goes from the text in which it was found. Replaced everywhere it would take our own words with
it: keys of an archive, states that laws compare.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from runs import catalogue, models
from runs.core.kinds import KINDS, Kind

_HOUSE = Path(__file__).parent
_JUDGING = (
    "store",
    "report",
    "material",
    "shaper",
    "pictures",
    "archives",
    "facts",
    "imported",
    "repeat",
)
"""Modules beside `core` whose words are keys of what an archive or an export holds."""
_ID = re.compile(r"[0-9a-fA-F]{8,64}|[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}")
_PRINTING = (_HOUSE, _HOUSE.parent / "fakes")


@cache
def nobodys() -> frozenset[str]:
    """Words of ours and names of products, which are nobody's secret."""
    return frozenset(
        {
            *catalogue.drivers(),
            *catalogue.scenarios(),
            *catalogue.scripts(),
            *catalogue.faults(),
            *catalogue.laws(),
            *(kind.value for kind in Kind),
            *models.Opinion.Word.values,
            *("root", "parent", "child", "stdout", "session", "log", "hooks", "provider"),
        }
    )


def ids(document: dict[str, Any]) -> set[str]:
    """The numbers of a run's agents, which logs call a ``session=``; no names."""
    found = (str(row.get("id") or "") for row in document.get("agents") or [])
    return {one for one in found if _ID.fullmatch(one)}


@cache
def judged() -> frozenset[str]:
    """Words that a history is made of and laws compare: nothing else may stand in their place."""
    found = {key for told in KINDS.values() for key in told.keys}
    found |= {one.key for driver in catalogue.drivers().values() for one in driver.options}
    paths = [*(_HOUSE / "core").rglob("*.py"), *(_HOUSE / f"{name}.py" for name in _JUDGING)]
    for path in paths:
        for text in _literals(path):
            found.update(re.findall(r"[A-Za-z][\w-]*", text))
    return frozenset(found)


@cache
def printed() -> frozenset[str]:
    """Every word of our own source: an export may hold it without having it from the run."""
    found: set[str] = set()
    for house in _PRINTING:
        for path in house.rglob("*"):
            if path.suffix in (".py", ".css", ".toml") and "tests" not in path.parts:
                text = path.read_text(encoding="utf-8")
                found.update(re.findall(r"[A-Za-z]+", text))
                found.update(re.findall(r"[A-Za-z]+\d[A-Za-z0-9]*", text))
                for dotted in re.findall(r"[\w-]+(?:\.[\w-]+){1,7}", text):
                    parts = dotted.split(".")
                    ends = range(1, len(parts) + 1)
                    found.update(".".join(parts[a:b]) for b in ends for a in range(b))
    return frozenset(found)


def is_readers(name: str) -> bool:
    """Whether a name of several words is one that a reader gives: ``tool output``.

    One word of it may be the agent's: ``session/prompt answered``.
    """
    first, _, rest = name.partition(" ")
    before, _, last = name.rpartition(" ")
    return not _readers().isdisjoint({name, f" {rest}", f"{before} "}) and bool(first and last)


@cache
def _readers() -> frozenset[str]:
    paths = [
        path for house in ("transcripts", "drivers") for path in (_HOUSE / house).rglob("*.py")
    ]
    return frozenset(text for path in paths for text in _literals(path) if text.strip())


def _literals(path: Path) -> Iterator[str]:
    """The strings of a module, without those that are there to be read by people."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    prose = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in prose:
            yield node.value
