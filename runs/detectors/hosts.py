"""Host names and addresses of machines, other than this machine's loopback."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Iterable
from functools import cache

from runs.detectors._base import Found, Patterns

_ENDS = (
    "com|net|org|edu|gov|mil|int|io|dev|ai|app|cloud|co|me|tv|xyz|info|biz|tech|gg|"
    "uk|de|fr|nl|be|ch|at|se|no|dk|fi|pl|cz|it|es|pt|ie|eu|us|ca|mx|br|ar|au|nz|jp|cn|kr|in|"
    "ru|ua|tr|il|za|sg|hk|tw|internal|intranet|local|lan|corp|private|localdomain|example|invalid"
)


class Hosts(Patterns):
    """Names with a known last part, IP addresses, and the name of this machine."""

    name = "host"
    title = "Host names and addresses"
    patterns = (
        re.compile(
            r"(?i)(?<![\w@.-])(?P<secret>(?:[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?\.){1,8}"
            rf"(?:{_ENDS}))(?![\w-])(?!\.[a-z0-9])(?!\()"
        ),
        re.compile(r"(?i)\b(?:https?|wss?|ssh|ftp|redis|postgres(?:ql)?|mysql|amqp|grpc|tcp)://"
                   r"(?:[^\s/@\"']*@)?(?P<secret>[a-z0-9](?:[\w.-]*[a-z0-9])?)"),
        re.compile(r"(?i)\bhost(?:name)?[\"']?\s*[:=]\s*[\"']?(?P<secret>[a-z0-9][\w.-]{2,})"),
        re.compile(r"(?<![\d.])(?P<secret>\d{1,3}(?:\.\d{1,3}){3})(?![\d.])"),
        re.compile(r"(?i)(?<![\w:.])(?P<secret>(?:[0-9a-f]{1,4}:){2,7}(?::?[0-9a-f]{1,4})"
                   r"(?::[0-9a-f]{1,4}){0,5})(?![\w:.])"),
        re.compile(r"(?<=@)(?P<secret>[a-z][\w-]{2,}(?:\.[\w-]+)*)(?=:\s?~?[/$#])"),
    )  # fmt: skip

    def find(self, text: str) -> Iterable[Found]:
        """By pattern, and this machine's own name."""
        yield from super().find(text)
        own = _own()
        if own is not None:
            for match in own.finditer(text):
                yield Found(*match.span())

    def is_secret(self, value: str) -> bool:
        """Loopback is everybody's, and so are the addresses that mean none."""
        bare = value.lower()
        if bare in ("localhost", "0.0.0.0", "host.docker.internal"):
            return False
        try:
            address = ipaddress.ip_address(bare)
        except ValueError:
            return not _is_number(bare) and not bare.isdigit()
        return not (address.is_loopback or address.is_unspecified)


def _is_number(value: str) -> bool:
    """``1.2.3.4000``, and hours or words with colons, name no machine."""
    parts = re.split(r"[.:]", value)
    return all(part.isdigit() or not part for part in parts)


@cache
def _own() -> re.Pattern[str] | None:
    name = socket.gethostname().partition(".")[0]
    if len(name) < 3 or name.lower() == "localhost":
        return None
    return re.compile(rf"(?<![A-Za-z0-9]){re.escape(name)}(?![A-Za-z0-9])")


DETECTOR = Hosts()
