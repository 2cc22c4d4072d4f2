"""Values that are known, found wherever they stand: as fast for ten thousand as for ten.

One alternative a value would be tried at each place of a text, so time would grow with both.
Here values share their beginnings: at each place one path is followed, as far as it takes to
tell the one value that may stand there, and then that one is compared.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

_DEEPEST = 60
"""Beginnings inside of beginnings; below it values are tried one by one."""
_SURE = 3
"""Letters beyond those that tell a value from others."""
_LETTER = "[A-Za-z0-9]"


class Place(NamedTuple):
    """Where a value stands."""

    start: int
    end: int
    value: str


class Known:
    """Some values; those of `whole` count as whole words alone. The longest one wins."""

    def __init__(self, values: Iterable[str], whole: Callable[[str], bool]) -> None:
        self._whole = whole
        self._of: dict[str, list[str]] = {}
        ordered = sorted(values)
        tree = self._branch(ordered, 0, []) if ordered else ""
        self._pattern = re.compile(f"(?=({tree}))") if tree else None

    def find(self, text: str) -> Iterator[Place]:
        """Each place where one stands, from the left."""
        done = 0
        for match in self._pattern.finditer(text) if self._pattern else ():
            start = match.start()
            if start >= done:
                for value in self._of[match[1]]:
                    if text.startswith(value, start) and self._apart(text, start, value):
                        done = start + len(value)
                        yield Place(start, done, value)
                        break

    def replaced(self, text: str, sign: Callable[[str], str]) -> str:
        """The text with `sign` of each value in its place."""
        pieces, done = [], 0
        for start, end, value in self.find(text):
            pieces += [text[done:start], sign(value)]
            done = end
        return "".join([*pieces, text[done:]]) if pieces else text

    def _branch(self, values: list[str], start: int, above: list[str], depth: int = 0) -> str:
        """A pattern of these values' beginnings from `start`, before which they are alike.

        `above` are values that all of them begin with.
        """
        first, last = values[0], values[-1]  # sorted: what these two share all do
        if len(values) == 1:
            return self._leaf(first[: start + _SURE], start, [first, *above])
        if depth == _DEEPEST:
            longest = sorted(values, key=len, reverse=True)
            return _any(
                self._leaf(one, start, [*filter(one.startswith, longest), *above])
                for one in longest
            )
        shared = start
        while shared < len(first) and first[shared] == last[shared]:
            shared += 1
        ended = [first] if len(first) == shared else []
        parts, group = [], [values[len(ended)]]
        for value in [*values[len(ended) + 1 :], ""]:
            if not value or value[shared] != group[0][shared]:
                parts.append(self._branch(group, shared, ended + above, depth + 1))
                group = []
            group.append(value)
        parts += [self._leaf(one, shared, [one, *above]) for one in ended]
        return re.escape(first[start:shared]) + _any(parts)

    def _leaf(self, beginning: str, start: int, values: list[str]) -> str:
        """What is left to follow of a beginning behind which one of these may stand."""
        self._of[beginning] = values
        return re.escape(beginning[start:])

    def _apart(self, text: str, start: int, value: str) -> bool:
        if not self._whole(value):
            return True
        end = start + len(value)
        before = start > 0 and _is_letter(value[0]) and _is_letter(text[start - 1])
        after = end < len(text) and _is_letter(value[-1]) and _is_letter(text[end])
        return not (before or after)


def begun(ordered: Sequence[str], beginning: str) -> str:
    """A value that begins so, of values in order; else nothing."""
    at = bisect_left(ordered, beginning)
    found = ordered[at] if at < len(ordered) else ""
    return found if found.startswith(beginning) else ""


def _any(parts: Iterable[str]) -> str:
    found = list(parts)
    return found[0] if len(found) == 1 else f"(?:{'|'.join(found)})"


def _is_letter(one: str) -> bool:
    return one.isascii() and one.isalnum()


def alone(value: str, whole: bool) -> re.Pattern[str]:
    """A pattern of one value."""
    before = rf"(?<!{_LETTER})" if whole and _is_letter(value[0]) else ""
    after = rf"(?!{_LETTER})" if whole and _is_letter(value[-1]) else ""
    return re.compile(before + re.escape(value) + after)
