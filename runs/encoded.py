"""What a text says beside what stands there: words that are decoded, and how people see it."""

from __future__ import annotations

import base64
import binascii
import html
import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass
from urllib.parse import unquote

_WORD = re.compile(r"[^\s\"'<>&?=;,(){}\[\]]+")
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_ESCAPE = re.compile(r"\\+(?:u00|x)([0-9A-Fa-f]{2})")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}")
_ALTERED = bytes.maketrans(b"-_", b"+/")
LONGEST = 20_000
"""Characters of a word; a longer one is a file, and is found as random text or not at all."""


_NOISE = re.compile(
    r"(?P<none>\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]{0,200}(?:\x07|\x1b\\)|"
    r"\\+(?:u001b|x1b|033|e)\[[0-9;?]*[A-Za-z]|"
    r"[\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]|\\+u(?:00ad|200[b-f]|2060|feff)|"
    r"=\r?\n|\\\r?\n)|"
    r"(?P<letter>\\+u[0-9A-Fa-f]{4})|"
    r"(?P<entity>&(?:#\d{2,5}|#x[0-9A-Fa-f]{2,4}|quot|apos|amp|lt|gt|nbsp);)|"
    r"\\+(?P<quote>[\"'`/])|(?P<blank>\\+[nrt])(?![\w$.-]*\\)|"
    r"(?P<share>(?:^|(?<=[\s\"'=(]))\\{4,}(?=\w))|(?P<slash>\\{2,})"
)
"""Colours of a terminal, marks that nobody sees, soft ends of lines, escapes."""


@dataclass(frozen=True, slots=True)
class View:
    """A text as people see it, and where each part of it stood."""

    text: str
    starts: list[int]
    """Places in it at which a part begins."""
    stood: list[tuple[int, int]]
    """Of each part: where it began, and how long it was if it is one letter for several."""

    def place(self, start: int, end: int) -> tuple[int, int]:
        """Where this stood; with what nobody sees before it."""
        first, _ = self._place(start)
        last, length = self._place(end - 1)
        part = bisect_right(self.starts, start) - 1
        if self.starts[part] == start:
            before, size = self.stood[part - 1] if part else (0, 0)
            first = before + (size or start - self.starts[part - 1]) if part else 0
        return first, last + (length or 1)

    def _place(self, at: int) -> tuple[int, int]:
        part = bisect_right(self.starts, at) - 1
        begun, length = self.stood[part]
        return (begun, length) if length else (begun + at - self.starts[part], 0)


def plain(text: str) -> View | None:
    """The text without what nobody sees and without escapes; None where that is the text."""
    pieces: list[str] = []
    starts: list[int] = []
    stood: list[tuple[int, int]] = []
    size = done = 0

    def add(piece: str, place: int, length: int) -> None:
        nonlocal size
        if piece:
            pieces.append(piece)
            starts.append(size)
            stood.append((place, length))
            size += len(piece)

    for match in _NOISE.finditer(text):
        add(text[done : match.start()], done, 0)
        add(_letter(match), match.start(), len(match.group()))
        done = match.end()
    if not done:
        return None
    add(text[done:], done, 0)
    return View("".join(pieces), starts, stood)


def _letter(match: re.Match[str]) -> str:
    """The one letter that people see there, or nothing."""
    sort = match.lastgroup
    if sort == "letter":
        return chr(int(match["letter"][-4:], 16))
    if sort == "entity":
        return html.unescape(match["entity"])[:1]
    if sort == "quote":
        return match["quote"]
    return {"blank": "\n", "slash": "\\", "share": "\\\\"}.get(sort or "", "")


def words(text: str) -> Iterator[tuple[int, int, str]]:
    """Start and end of a word, and what it says decoded; only where that is another text."""
    if "%" in text or "\\" in text:
        for match in _WORD.finditer(text):
            word = match.group()
            if _PERCENT.search(word):
                yield *match.span(), unquote(word, errors="replace")
            if _ESCAPE.search(word):
                yield *match.span(), _ESCAPE.sub(lambda one: chr(int(one[1], 16)), word)
    for match in _BASE64.finditer(text):
        said = _from_base64(match.group())
        if said:
            yield *match.span(), said


def _from_base64(word: str) -> str:
    bare = word.rstrip("=").encode().translate(_ALTERED)
    if len(bare) > LONGEST or len(bare) % 4 == 1:
        return ""
    try:
        said = base64.b64decode(bare + b"=" * (-len(bare) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return said if all(letter.isprintable() or letter in "\r\n\t" for letter in said) else ""
