"""Words of a text that say something else once they are decoded: percent signs, escapes, base64."""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator
from urllib.parse import unquote

_WORD = re.compile(r"[^\s\"'<>&?=;,(){}\[\]]+")
_PERCENT = re.compile(r"%[0-9A-Fa-f]{2}")
_ESCAPE = re.compile(r"\\+(?:u00|x)([0-9A-Fa-f]{2})")
_BASE64 = re.compile(r"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{16,}={0,2}")
_ALTERED = bytes.maketrans(b"-_", b"+/")
LONGEST = 20_000
"""Characters of a word; a longer one is a file, and is found as random text or not at all."""


def words(text: str) -> Iterator[tuple[str, str]]:
    """(the word as it stands, what it says decoded); only where the two differ and it is text."""
    if "%" in text or "\\" in text:
        for match in _WORD.finditer(text):
            word = match.group()
            if _PERCENT.search(word):
                yield word, unquote(word, errors="replace")
            if _ESCAPE.search(word):
                yield word, _ESCAPE.sub(lambda one: chr(int(one[1], 16)), word)
    for match in _BASE64.finditer(text):
        said = _from_base64(match.group())
        if said:
            yield match.group(), said


def _from_base64(word: str) -> str:
    bare = word.rstrip("=").encode().translate(_ALTERED)
    if len(bare) > LONGEST or len(bare) % 4 == 1:
        return ""
    try:
        said = base64.b64decode(bare + b"=" * (-len(bare) % 4), validate=True).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""
    return said if all(letter.isprintable() or letter in "\r\n\t" for letter in said) else ""
