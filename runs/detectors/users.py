"""User names: as they stand in paths, and the one who runs this."""

from __future__ import annotations

import getpass
import re
from collections.abc import Iterable
from functools import cache

from runs.detectors._base import Found, Patterns

_NOBODY = frozenset(
    {
        *("root", "user", "users", "runner", "ubuntu", "admin", "home", "default", "public"),
        *("nobody", "vscode", "node", "app", "work", "shared", "all", "test", "agent"),
    }
)
"""Names that say nothing of anybody."""


class Users(Patterns):
    """The name of a home folder, and of who is logged in."""

    name = "user"
    title = "User names"
    patterns = (
        re.compile(
            r"(?i)(?:(?<![\w.])/(?:home|users|export/home|var/home)/|"
            r"\b[a-z]:(?:\\{1,4}|/)(?:users|documents and settings)(?:\\{1,4}|/)|"
            r"%2Fhome%2F|-(?:home|users)-|/mnt/[a-z]/users/)"
            r"(?P<secret>[^\s/\\\"'<>|:%,;)\]}-]{2,64})"
        ),
        re.compile(
            r"(?i)\b(?:user(?:name)?|login|logname|uid)[\"']?\s*[:=]\s*[\"']?"
            r"(?P<secret>[a-z_][\w.-]{2,31})(?![\w(])"
        ),
        re.compile(r"(?<![\w.@/-])(?P<secret>[a-z_][\w.-]{1,31})@[a-z][\w-]{2,}(?=[:\s]~?[/$#])"),
    )

    def find(self, text: str) -> Iterable[Found]:
        """By pattern, and the own name as a word."""
        yield from super().find(text)
        own = _own()
        if own is not None:
            for match in own.finditer(text):
                yield Found(*match.span())

    def is_secret(self, value: str) -> bool:
        """Not the names that everybody has."""
        return value.lower() not in _NOBODY and not value.startswith("⟨")


@cache
def _own() -> re.Pattern[str] | None:
    try:
        name = getpass.getuser()
    except (OSError, KeyError):
        return None
    if len(name) < 3 or name.lower() in _NOBODY:
        return None
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])")


DETECTOR = Users()
