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

_SPOKEN_OF = frozenset(
    {
        *("agent", "assistant", "client", "event", "hook", "item", "logger", "message", "model"),
        *(
            "process",
            "runner",
            "self",
            "server",
            "session",
            "subagent",
            "system",
            "task",
            "this",
            "thread",
        ),
        *("tool", "turn", "user", "worker"),
    }
)
"""What logs speak of: ``session.info`` is a kind of event and ``server.app`` a module."""
_ATTRIBUTES = (
    r"host\.name|(?:server|client)\.address|net\.(?:peer|host|sock\.peer)\.(?:name|addr)|"
    r"k8s\.(?:node|pod)\.name"
)
"""What traces call a machine."""
_Q = r"\\*[\"']"
_COLONS = re.compile(
    r"(?i)(?<![\w:.])(?=[0-9a-f]{0,4}:)[0-9a-f:]{3,39}(?:(?<=:)\d{1,3}(?:\.\d{1,3}){3})?(?![\w:])"
)
"""What may be an address of version 6, short forms and such with one of version 4 included."""


class Hosts(Patterns):
    """Names with a known last part, IP addresses, and the name of this machine."""

    name = "host"
    title = "Host names and addresses"
    patterns = (
        re.compile(
            r"(?i)(?<![\w.-])(?P<secret>(?:[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?\.){1,8}"
            rf"(?:{_ENDS}))(?![\w-])(?!\.[a-z0-9])(?!\()"
        ),
        re.compile(r"(?i)(?<![\w.-])(?P<secret>(?:[a-z0-9](?:[a-z0-9_-]{0,61}[a-z0-9])?\.){2,8}"
                   r"(?:internal|intranet|local|lan|corp|localdomain|com|net|org))(?=-[a-z])"),
        re.compile(r"(?i)\b(?:https?|wss?|ssh|ftp|redis|postgres(?:ql)?|mysql|amqp|grpc|tcp)://"
                   r"(?:[^\s/@\"']*@)?(?P<secret>[a-z0-9](?:[\w.-]*[a-z0-9])?)"),
        re.compile(r"(?i)(?:\b|_)(?:host|hostname|computername|node_?name|pod_?name|machine_?name)"
                   r"[\"']?\s*[:=]\s*[\"']?(?P<secret>[a-z0-9][\w.-]{2,})"),
        re.compile(rf"(?i)[\"'](?:{_ATTRIBUTES}){_Q}\s*[:,]\s*{_Q}(?:value{_Q}\s*:\s*(?:\{{\s*)?"
                   rf"(?:{_Q}\w+{_Q}\s*:\s*)?{_Q})?(?P<secret>[a-z0-9][\w.-]{{2,}})"),
        re.compile(r"(?:\b(?:ENOTFOUND|EAI_AGAIN|UnknownHostException:|connect to host)\s+|"
                   r"host name [\"']|known[:.] [\"'(]{1,2})(?P<secret>[A-Za-z][\w.-]{2,})"),
        re.compile(r"(?:\bPING\s+|\blookup\s+|\bconnecting to\s+|\b(?:ECONNREFUSED|ETIMEDOUT|"
                   r"EHOSTUNREACH)\s+)(?P<secret>[A-Za-z][\w.-]{2,})"
                   r"(?=:\d{2,5}\b| \(\d{1,3}\.| on \S+:53\b|: no such host)"),
        re.compile(r"(?<!\S)[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d (?P<secret>[a-z][\w.-]{2,}) "
                   r"[\w./-]{1,30}(?:\[\d+\])?: "),
        re.compile(r"(?m)(?:(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}\t\s*|^\s*HostName\s+)"
                   r"(?P<secret>[A-Za-z][\w.-]{2,})"),
        re.compile(r"(?m)^(?P<secret>[A-Za-z][\w.-]{2,}) (?:ssh-\w{3,7}|ecdsa-sha2-\S+) AAAA"),
        re.compile(r"\bgit@(?P<secret>[A-Za-z][\w.-]{2,}):[\w.-]+/"),
        re.compile(r"(?i)(?<![\w.-])(?P<secret>ip(?:-\d{1,3}){4})(?![\w-])"),
        re.compile(r"(?i)(?<![\w.-])(?P<secret>(?:[\w-]{2,}\.){1,4}(?:fritz\.box|home\.arpa|onion|"
                   r"museum|intra))(?![\w.-])"),
        re.compile(r"(?<![\d.])(?P<secret>\d{1,3}(?:\.\d{1,3}){3})(?![\d.])"),
        re.compile(r"(?i)(?<![\w:.])(?P<secret>(?:[0-9a-f]{1,4}:){2,7}(?::?[0-9a-f]{1,4})"
                   r"(?::[0-9a-f]{1,4}){0,5})(?![\w:.])"),
        re.compile(r"(?<=@)(?P<secret>[a-z][\w-]{2,}(?:\.[\w-]+)*)(?=:\s?~?[/$#])"),
        re.compile(r"\b(?:ssh|scp|sftp|rsync)\b[^\n]{0,80}?\s[\w.-]{1,32}@"
                   r"(?P<secret>[A-Za-z][\w.-]+)"),
        re.compile(r"\b(?:Linux|Darwin)\s+(?P<secret>[A-Za-z][\w.-]+)\s+\d+\.\d+\.\d+"),
        re.compile(r"(?<![A-Za-z0-9])(?P<secret>(?:DESKTOP-[A-Z0-9]{7}|LAPTOP-[A-Z0-9]{8}|"
                   r"WIN-[A-Z0-9]{11}))(?![A-Za-z0-9])"),
        re.compile(r"(?:^|(?<=[\s\"'=(]))\\{2,4}(?P<secret>[A-Za-z][\w.-]{2,62})"
                   r"\\{1,2}\w[\w$ -]{1,60}\\"),
    )  # fmt: skip

    def find(self, text: str) -> Iterable[Found]:
        """By pattern, and this machine's own name."""
        yield from super().find(text)
        for match in _COLONS.finditer(text):
            if _is_address(match.group()) and self.is_secret(match.group()):
                yield Found(*match.span())
        own = _own()
        if own is not None:
            for match in own.finditer(text):
                yield Found(*match.span())

    def is_secret(self, value: str) -> bool:
        """Loopback is everybody's, and so are the addresses that mean none."""
        bare = value.lower()
        if bare in ("localhost", "0.0.0.0", "host.docker.internal"):
            return False
        first, dot, rest = bare.partition(".")
        if dot and "." not in rest and first in _SPOKEN_OF:
            return False
        try:
            address = ipaddress.ip_address(bare)
        except ValueError:
            return not _is_number(bare) and not bare.isdigit()
        return not (address.is_loopback or address.is_unspecified)


def _is_address(value: str) -> bool:
    """Whether it is one of version 6; ``a::b`` without any digit is somebody's code."""
    try:
        ipaddress.IPv6Address(value)
    except ValueError:
        return False
    return any(letter.isdigit() for letter in value)


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
