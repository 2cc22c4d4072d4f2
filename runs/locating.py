"""Where a dotted key stands in a scenario's TOML, as a person wrote it."""

from __future__ import annotations

import re

HEADER = re.compile(r"\s*(\[\[?)\s*([^\]]+?)\s*\]\]?\s*(#.*)?$")


def line_of(text: str, key: str) -> int:
    """The line (from 1) of ``guards.deadline``, ``faults.1.on.caller`` …; 0 when it has none.

    What has no line of its own (a key of an inline table, a key that is missing) gets the
    line of what holds it.
    """
    parts = key.split(".") if key else []
    while parts:
        found = _exactly(text, parts)
        if found:
            return found
        parts.pop()
    return 0


def _exactly(text: str, parts: list[str]) -> int:
    wanted, table = parts[-1], ".".join(parts[:-1])
    here, counts = "", dict[str, int]()
    for number, line in enumerate(text.split("\n"), start=1):
        header = HEADER.match(line)
        if header:
            here = _named(header[2], header[1] == "[[", counts)
            if here == ".".join(parts):
                return number
        elif here == table and re.match(rf"\s*\"?{re.escape(wanted)}\"?\s*[.=]", line):
            return number
    return 0


def _named(name: str, is_list: bool, counts: dict[str, int]) -> str:
    """The table's dotted name, with its number where it is one of a list."""
    name = name.replace('"', "")
    if is_list:
        counts[name] = counts.get(name, -1) + 1
        return f"{name}.{counts[name]}"
    above = max((each for each in counts if name.startswith(f"{each}.")), key=len, default="")
    return f"{above}.{counts[above]}{name[len(above) :]}" if above else name
