"""What HTTP headers carry: authorization, cookies, keys."""

from __future__ import annotations

import re

from runs.detectors._base import Patterns

_NAMES = (
    r"(?:proxy-)?authorization|(?:set-)?cookie2?|"
    r"(?:[a-z]+-){1,4}(?:key|token|secret)"
)


class Headers(Patterns):
    """The values of headers that prove who somebody is."""

    name = "header"
    title = "Authorization headers and cookies"
    patterns = (
        re.compile(
            rf"(?i)(?<![\w-])(?:{_NAMES})[\"']?\s*[:=]\s*[\"']?"
            r"(?P<secret>[^\r\n\"'\\]{4,})"
        ),
        re.compile(r"(?i)\b(?:bearer|basic|digest|negotiate|token)\s+(?P<secret>[\w.~+/=-]{8,})"),
        re.compile(
            r"(?i)(?<![\w-])(?:session(?:id)?|sid|csrftoken|connect\.sid|jsessionid|phpsessid|"
            r"auth_token|access_token|refresh_token|id_token)=(?P<secret>[^\s;\"'&]{6,})"
        ),
    )

    def is_secret(self, value: str) -> bool:
        """A word alone (`bearer authentication`) is none: a credential has a digit or a sign."""
        if value.startswith("HTTP/"):
            return False
        return len(value) > 20 or any(letter.isdigit() or letter in "=:;" for letter in value)


DETECTOR = Headers()
