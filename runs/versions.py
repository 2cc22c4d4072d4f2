"""Versions: their pattern, their order, prereleases and ranges. Pure.

One order serves npm's semantic versions and Python's: the release by its numbers,
a prerelease (``1.0.84-5``, ``0.9.0rc1``) before its release, and an executable that
an operator registered (``1.0.102-local.ab12cd34``) right after the release it reports.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from runs.errors import UnknownName

PATTERN = re.compile(r"[0-9A-Za-z][0-9A-Za-z.+_-]{0,63}")
_RELEASE = re.compile(r"v?(\d+(?:\.\d+)*)(.*)", re.DOTALL)
_LOCAL = re.compile(r"[-+]local[.]")
_POST = re.compile(r"[.-]?post(\d+)$")
_PIECE = re.compile(r"\d+|[A-Za-z]+")

Key = tuple[tuple[int, ...], int, tuple[tuple[int, int, str], ...]]


def valid(version: str) -> bool:
    """Whether the text may be a version at all: what reaches npm, pip or a path matches this."""
    return bool(PATTERN.fullmatch(version)) and ".." not in version


def key(version: str) -> Key:
    """What versions are sorted by; a text that is no version sorts first."""
    found = _RELEASE.fullmatch(version)
    if found is None:
        return (), 0, ((0, 0, version),)
    numbers = [int(part) for part in found[1].split(".")]
    while numbers and numbers[-1] == 0:
        numbers.pop()
    rest = found[2].partition("+")[0] if not _LOCAL.match(found[2]) else found[2]
    stage = 1 if not rest else 2 if _LOCAL.match(rest) or _POST.match(rest) else 0
    pieces = tuple(
        (0, int(piece), "") if piece.isdigit() else (1, 0, piece.lower())
        for piece in _PIECE.findall(rest)
    )
    return tuple(numbers), stage, pieces


def release(version: str) -> tuple[int, ...]:
    """The numbers alone, for comparing what a version can do: ``1.0.84-5`` → (1, 0, 84)."""
    found = _RELEASE.fullmatch(version)
    return tuple(int(part) for part in found[1].split(".")) if found else ()


def plain(version: str) -> str:
    """What a binary says of itself: a registered executable's version without our mark."""
    found = _LOCAL.search(version)
    return version[: found.start()] if found else version


def is_prerelease(version: str) -> bool:
    """Whether it comes before a release of the same numbers."""
    return key(version)[1] == 0


def ordered(versions: Iterable[str]) -> list[str]:
    """Each once, oldest first."""
    return sorted(set(versions), key=key)


def check_ranges(text: str) -> None:
    """UnknownName when a part of ``1.0.60,1.0.81..1.0.102`` can be no version."""
    for part in text.split(","):
        first, dots, last = (piece.strip() for piece in part.partition(".."))
        given = [end for end in (first, last) if end]
        if not all(valid(end) for end in given) or not given:
            what = f"{part.strip()!r} is no {'range' if dots else 'version'}."
            raise UnknownName(what, "Write 1.0.81 or 1.0.81..1.0.102.")


def expand(agent: str, text: str, known: Sequence[str]) -> list[str]:
    """``1.0.60,1.0.81..1.0.102`` as versions of an agent, oldest first in each range.

    A range takes the known releases between its ends, both included; prereleases only
    where an end of the range is one. An end may be missing (``1.0.90..``). A single
    version need not be known. UnknownName: a malformed part or an empty range.
    """
    check_ranges(text)
    chosen: list[str] = []
    for part in text.split(","):
        first, dots, last = (piece.strip() for piece in part.partition(".."))
        found = _between(first, last, known) if dots else [first]
        if not found:
            raise UnknownName(f"No known version lies in {part}.", f"See `binaries list {agent}`.")
        chosen.extend(found)
    return list(dict.fromkeys(chosen))


def _between(first: str, last: str, known: Sequence[str]) -> list[str]:
    early = any(is_prerelease(end) for end in (first, last) if end)
    return [
        version
        for version in ordered(known)
        if (not first or key(first) <= key(version))
        and (not last or key(version) <= key(last))
        and (early or not is_prerelease(version))
    ]
