"""E-mail addresses, also written in percent signs."""

from __future__ import annotations

import re
from collections.abc import Iterable

from runs.detectors._base import Found, Patterns

_BRACKETS = re.compile(r"[\w.+%'-]{1,64}@\[[0-9a-fA-F:.]{3,45}\]")

# 1.0.102, 1.0.84-5, 0.3.0-preview.1+a1b2c3; not 1.2.3-x.example.com
_VERSION = re.compile(r"\d+(?:\.\d+)+(?:[-+][\w-]+(?:[.+-][\w-]*\d[\w-]*)*)?", re.ASCII)


class Emails(Patterns):
    """Who somebody is."""

    name = "email"
    title = "E-mail addresses"
    patterns = (
        re.compile(r"[\w.+%'-]{1,64}(?:@|%40)[\w-]{1,63}(?:\.[\w-]{1,63})+", re.UNICODE),
        re.compile(r"(?i)\be?-?mail[\"']?\s*[:=]\s*[\"'<]?(?P<secret>[\w.+%'-]{1,64}@[\w-]{2,63})"),
        re.compile(r"\b[\w.+-]{1,64}\s?[\[(]at[\])]\s?[\w-]+(?:\s?[\[(]dot[\])]\s?|\.)\w{2,}"),
    )

    def find(self, text: str) -> Iterable[Found]:
        """By pattern, and at an address in brackets."""
        yield from super().find(text)
        for match in _BRACKETS.finditer(text) if "@[" in text else ():
            yield Found(*match.span())

    def is_secret(self, value: str) -> bool:
        """``agent@1.0.102`` and ``agent@1.0.84-5`` are versions; no domain is all of them."""
        return not _VERSION.fullmatch(re.split("@|%40", value)[-1])


DETECTOR = Emails()
