"""Real servers for tests and trials: PostgreSQL and Redis from what this machine has.

Each is started in a folder of its own on a socket of its own and stopped afterwards;
a server that the machine runs is never touched.
"""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


class NotFound(Exception):
    """The program is not on this machine; the message says which."""


def find(program: str) -> str:
    """The program's path, also where Debian keeps PostgreSQL's; NotFound otherwise."""
    places = [shutil.which(program)]
    places += sorted(map(str, Path("/usr/lib/postgresql").glob(f"*/bin/{program}")), reverse=True)
    for place in places:
        if place:
            return place
    raise NotFound(f"there is no {program}")


@contextmanager
def postgres() -> Iterator[str]:
    """A PostgreSQL of its own; gives its DATABASE_URL."""
    initdb, server = find("initdb"), find("postgres")
    with tempfile.TemporaryDirectory(prefix="ll-pg-") as folder:
        Path(folder).chmod(0o755)
        data, user = Path(folder, "data"), _ordinary_user()
        data.mkdir()
        if user:
            shutil.chown(data, user)
            shutil.chown(folder, user)
        made = subprocess.run(
            [initdb, "-D", data, "-U", "lifeline", "--auth=trust", "--no-sync", "-E", "UTF8"],
            user=user,
            capture_output=True,
            text=True,
        )
        if made.returncode != 0:
            raise NotFound(f"initdb failed: {made.stderr.strip()[-300:]}")
        process = subprocess.Popen(
            [server, "-D", data, "-k", folder, "-h", "", "-c", "fsync=off"],
            user=user,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            _wait_for(Path(folder, ".s.PGSQL.5432"), process)
            yield f"postgresql://lifeline@{folder.replace('/', '%2F')}/postgres"
        finally:
            process.terminate()
            process.wait()


@contextmanager
def redis_server() -> Iterator[str]:
    """A real Redis of its own, with a thousand databases; gives its URL."""
    program = find("redis-server")
    with tempfile.TemporaryDirectory(prefix="ll-redis-") as folder:
        socket = Path(folder, "redis.sock")
        process = subprocess.Popen(
            [program, "--port", "0", "--unixsocket", str(socket), "--save", "", "--dir", folder]
            + ["--databases", "1000"],
            stdout=subprocess.DEVNULL,
        )
        try:
            _wait_for(socket, process)
            yield f"unix://{socket}"
        finally:
            process.terminate()
            process.wait()


def _wait_for(path: Path, process: subprocess.Popen[bytes], seconds: float = 30) -> None:
    until = time.monotonic() + seconds
    while not path.exists():
        if process.poll() is not None or time.monotonic() > until:
            raise NotFound(f"the server behind {path.name} did not start")
        time.sleep(0.05)


def _ordinary_user() -> str | None:
    """PostgreSQL refuses to run as root: another user to run it as, when we are root."""
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            return pwd.getpwnam(name).pw_name
        except KeyError:
            continue
    raise NotFound("there is no ordinary user to run PostgreSQL as")
