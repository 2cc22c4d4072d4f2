"""A hostile agent: tries to see and reach what it must not; prints what it got as JSON."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any


def attempt(what: Callable[[], Any]) -> Any:
    try:
        return what()
    except Exception as error:
        return f"refused: {type(error).__name__}"


def connect(family: int, address: Any) -> str:
    with socket.socket(family) as sock:
        sock.settimeout(5)
        sock.connect(address)
        return "connected"


def processes() -> list[Any]:
    return [
        attempt((entry / "cmdline").read_text)
        for entry in Path("/proc").iterdir()
        if entry.name.isdigit()
    ]


def overwrite(path: str) -> str:
    Path(path).write_text("changed by the agent")
    return "written"


def capabilities() -> list[str]:
    lines = Path("/proc/self/status").read_text().splitlines()
    return [line.split()[1] for line in lines if line.startswith(("CapEff", "CapPrm", "CapAmb"))]


def kernel_settings() -> list[str]:
    found = []
    for folder, folders, files in os.walk("/proc"):
        if folder == "/proc":
            folders[:] = [name for name in folders if not name.isdigit()]
        for name in files:
            path = os.path.join(folder, name)  # noqa: PTH118
            try:
                os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))
                found.append(path)
            except OSError:
                continue
    return found


asked = json.loads(sys.argv[1])
got = {
    "planted": attempt(lambda: Path(asked["planted"]).read_text()),
    "own": attempt(lambda: overwrite(__file__)),
    "sources": attempt(lambda: len(list(Path(asked["sources"]).iterdir()))),
    "socket": attempt(lambda: connect(socket.AF_UNIX, asked["socket"])),
    "abstract": attempt(lambda: connect(socket.AF_UNIX, "\0" + asked["abstract"])),
    "loopback": attempt(lambda: connect(socket.AF_INET, ("127.0.0.1", asked["port"]))),
    "processes": processes(),
    "name": attempt(lambda: socket.getaddrinfo("example.com", 443)),
    "address": attempt(lambda: connect(socket.AF_INET, ("203.0.113.1", 443))),
    "six": attempt(lambda: connect(socket.AF_INET6, ("2001:db8::1", 8443))),
    "kernel": kernel_settings(),
    "capabilities": capabilities(),
    "uid": os.getuid(),
    "environment": dict(os.environ),
    "cwd": str(Path.cwd()),
}
print(json.dumps(got))
