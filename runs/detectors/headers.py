"""What HTTP headers carry: authorization, cookies, keys."""

from __future__ import annotations

import re
from collections.abc import Iterable

from runs.detectors._base import Found, Patterns

_NAMES = (
    r"(?:proxy-)?authorization|(?:set-)?cookie2?|"
    r"(?:[a-z]+-){1,4}(?:key|token|secret)|x-honeycomb-team|x-[a-z-]{1,30}signature(?:-\d+)?"
)


class Headers(Patterns):
    """The values of headers that prove who somebody is."""

    name = "header"
    title = "Authorization headers and cookies"
    patterns = (
        re.compile(
            rf"(?i)(?<![\w-])(?:{_NAMES})(?:[\"']?\s*[:=]|[\"'],)\s*\[?[\"']?"
            r"(?P<secret>[^\r\n\"'\\]{4,})"
        ),
        re.compile(r"(?i)\b(?:bearer|basic|digest|negotiate|token)\s+(?P<secret>[\w.~+/=-]{8,})"),
        re.compile(r"(?i)\bdigest\s+(?P<secret>\w+=\\*\"[^\r\n]{8,600})"),
        re.compile(
            r"\bcurl\b[^\n]{0,200}?\s(?:-b|--cookie)[= ]\s*[\"']?"
            r"(?P<secret>[^\s\"'=]+=[^\"'\s]+)"
        ),
        re.compile(
            r"(?i)(?:(?<![\w-])|(?<=[_.])(?=session))(?:session(?:_?id)?|sid|csrftoken|connect\.sid|jsessionid|phpsessid|"
            r"auth_token|access_token|refresh_token|id_token)=(?P<secret>[^\s;\"'&]{6,})"
        ),
    )

    def find(self, text: str) -> Iterable[Found]:
        """By pattern, and each cookie of a list of them."""
        yield from super().find(text)
        for jar in _JAR.finditer(text):
            for match in _COOKIE.finditer(text, *jar.span("all")):
                yield Found(*match.span(match.lastgroup or 0))

    def is_secret(self, value: str) -> bool:
        """A word alone (`bearer authentication`) is none: a credential has a digit or a sign."""
        if value.startswith("HTTP/"):
            return False
        return len(value) > 20 or any(letter.isdigit() or letter in "=:;" for letter in value)


_JAR = re.compile(r"(?i)\b(?:set-)?cookies?\\*[\"']\s*:\s*\[(?P<all>[^\]]{4,20000})")
"""Cookies one by one, as pairs of name and value or as they are set."""
_COOKIE = re.compile(
    r"(?i)\\*[\"']value\\*[\"']\s*:\s*\\*[\"'](?P<secret>[^\"'\\]{4,})|"
    r"\\*[\"'][\w.-]{1,60}=(?P<set>[^\"'\\;]{6,})"
)
DETECTOR = Headers()
