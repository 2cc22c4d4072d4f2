"""Private keys, whole or cut off, with real or escaped line ends."""

from __future__ import annotations

import re
import string
from collections.abc import Iterable

from runs.detectors._base import Found, Patterns


class PrivateKeys(Patterns):
    """PEM blocks and what a cut left of them."""

    name = "private-key"
    title = "Private keys"
    patterns = (
        re.compile(
            r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
            r"(?:[\s\S]*?-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|[\s\S]*)"
        ),
        re.compile(r"PuTTY-User-Key-File-\d:[\s\S]*"),
        re.compile(r"\bPRIVATE[ _-]KEY\b[^A-Za-z0-9]{0,6}(?P<secret>[A-Za-z0-9+/=]{24,})"),
    )

    def find(self, text: str) -> Iterable[Found]:
        """By pattern, and what stands before an end whose beginning was cut off."""
        yield from super().find(text)
        for match in _END.finditer(text):
            start = match.start()
            while start > 0 and text[start - 1] in _BODY:
                start -= 1
            yield Found(start, match.end())


_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_BODY = frozenset(string.ascii_letters + string.digits + string.whitespace + "+/=\\")
DETECTOR = PrivateKeys()
