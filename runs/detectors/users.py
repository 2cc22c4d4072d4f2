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
        *("staff", "wheel", "daemon", "www-data", "usb", "cdrom", "floppy", "disk"),
        *("git", "oauth2", "postgres", "redis", "mysql", "guest", "anonymous", "x-access-token"),
    }
)
"""Names that say nothing of anybody."""
_FILE = re.compile(r"\.(?:py|[cm]?js|tsx?|jsonl?|toml|ya?ml|sh|txt|md|log|html|css)$")
"""``/home/setup.py`` is a file, and ``/home/.cache`` a folder of whoever it is."""
_WINDOWS = r"(?i)\b[a-z]:\\{1,8}(?:users|documents and settings)\\{1,8}"
"""There a name may have blanks."""


class Users(Patterns):
    """The name of a home folder, and of who is logged in."""

    name = "user"
    title = "User names"
    patterns = (
        re.compile(
            r"(?i)(?:(?<![\w.])(?:\.\.)?(?:/(?:nfs|net|mnt|export|private|var|usr|vol\w*|data\d*|"
            r"lustre|scratch|gpfs|system/volumes/data|volumes/[\w. -]{1,40}|"
            r"/(?:wsl\$|wsl\.localhost)/[\w.-]{1,40})"
            r"(?:/[\w.-]{1,40})?|(?:/mnt|/cygdrive)?/[a-z])?/(?:homes?|users)/|"
            r"(?<![\w.])/(?:run/media|var/(?:spool/)?mail|var/spool/cron/crontabs|"
            r"nix/var/nix/profiles/per-user)/|\bssh-remote(?:%2B|\+)[\w.-]{1,63}/(?:home|users)/|"
            r"\b[a-z]\$\\{1,8}users\\{1,8}|/projects/(?:home|users)-|"
            r"\b[a-z]:(?:\\{1,8}|/)(?:users|documents and settings)(?:\\{1,8}|/)|"
            r"\\{1,8}home\\{1,8}|-(?:home|users)-)"
            r"(?P<secret>[^\s/\\\"'<>|:%,;)\]}-]{2,64})"
        ),
        re.compile(_WINDOWS + r"(?P<secret>[^\\/:*?\"<>|\r\n]{2,64})(?=\\)"),
        re.compile(
            _WINDOWS + r"[^\s\\/:*?\"<>|]{1,64}[ ](?P<secret>[^\\/:*?\"<>|\r\n]{3,64})(?=\\)"
        ),
        re.compile(r"://(?P<secret>[^\s/@:\"']{3,32}):[^\s/@\"']{1,400}@"),
        re.compile(r"(?<![\w/~])~(?P<secret>[a-z_][\w.-]{1,31})(?=/)"),
        re.compile(
            r"\b(?:ssh|scp|sftp|rsync)\b[^\n]{0,80}?\s(?P<secret>[a-z_][\w.-]{1,31})@[A-Za-z]"
        ),
        re.compile(
            r"(?i)(?:\b|_)(?:user(?:name)?|login|logname|uid)[\"']?\s*[:=]\s*[\"']?"
            r"(?P<secret>[a-z_][\w.-]{2,31})(?![\w(])"
        ),
        re.compile(
            r"(?<!\S)[bcdlps-][r-][w-][xsS-][r-][w-][xsS-][r-][w-][xtT-][.+@]?\s+\d+\s+"
            r"(?P<secret>[a-z_][\w.-]{1,31})\s"
        ),
        re.compile(r"(?<![\w.@-])(?P<secret>[a-z_][\w.-]{1,31})@[a-z][\w-]{2,}(?=[:\s]~?[/$#])"),
        re.compile(r"(?m)^(?P<secret>[a-z_][\w.-]{1,31})@[A-Za-z][\w.-]{2,} [\w.~/-]{1,60} [%$#] "),
        re.compile(r"\b[eu]?[ug]id=\d{1,7}\((?P<secret>[a-z_][\w.-]{1,31})\)"),
        re.compile(
            r"(?<!\S)(?P<secret>[a-z_][\w.-]{1,31})(?::[x*!]?:\d{3,7}:\d{1,7}:|\s+(?:pts/\d|tty\d)|"
            r"\s+\d{1,8}\s+\d{1,3}\.\d\s+\d{1,3}\.\d\s+\d+\s+\d+\s+\S+\s)"
        ),
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
        if value.lower() in _NOBODY or value.startswith(("⟨", ".")):
            return False
        return not _FILE.search(value)


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
