"""What npm and pip have in common: a clean environment, a job with a log, errors in words.

The machine's own configuration says which registry is asked; only what names a
registry, a proxy or a certificate is passed on, never a token, and HOME is fresh.
Package and version match a pattern before they reach a command line. Install
scripts do not run unless the driver's package says why they must.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from runs import versions
from runs.driver import Package, Say
from runs.errors import (
    CannotRunHere,
    HarnessError,
    UnknownName,
    UnknownVersion,
    VersionCannotRun,
)

NAME = re.compile(r"(@[a-z0-9~-][a-z0-9._~-]*/)?[A-Za-z0-9][A-Za-z0-9._~-]*")
LIMIT = 1800.0
"""Seconds after which an installation is given up."""
TAIL = 4000

_PASSED = (
    *("PATH", "LANG", "LC_ALL", "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS"),
    *("REQUESTS_CA_BUNDLE", "http_proxy", "https_proxy", "no_proxy"),
    *("HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "SYSTEMROOT"),
)
_USERINFO = re.compile(r"(?<=://)[^/@\s]+@")


@dataclass(frozen=True, slots=True)
class Published:
    """A version in a package's own list. `date` is ISO 8601 in UTC, empty where unknown."""

    version: str
    date: str = ""
    here: bool = True
    """Whether it has a package for this machine, as far as the registry's lists say."""


@dataclass(slots=True)
class Job:
    """One command's surroundings: a fresh home, a log, and somebody to tell."""

    home: Path
    say: Say
    log: Path
    stop: Callable[[], bool] = lambda: False
    keep_open: tuple[int, ...] = ()
    """File descriptors that the command inherits, so that their lock outlives us with it."""
    watch: Path | None = None
    """The folder whose growth is told."""
    agent: str = ""
    """Whose version is installed."""
    extra: Mapping[str, str] = field(default_factory=dict)

    def run(self, argv: Sequence[str], doing: str) -> str:
        """Run it to its end and give all that it wrote; HarnessError in words when it fails."""
        with self.log.open("ab") as log:
            log.write(f"$ {' '.join(argv)}\n".encode())
            log.flush()
            begin = log.tell()
            process = subprocess.Popen(
                [*_dies_with_us(), *argv],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env={**clean_environment(self.home), **self.extra},
                cwd=self.home,
                start_new_session=True,
                pass_fds=self.keep_open,
            )
            try:
                self._wait(process, doing)
            finally:
                _end(process)
        with self.log.open("rb") as log:
            log.seek(begin)
            text = log.read().decode(errors="replace")
        if process.returncode:
            raise explain(doing, text, self.agent)
        return text

    def _wait(self, process: subprocess.Popen[bytes], doing: str) -> None:
        begin = told = time.monotonic()
        while True:
            try:
                process.wait(0.2)
                return
            except subprocess.TimeoutExpired:
                now = time.monotonic()
            if self.stop():
                raise HarnessError(f"{doing}: cancelled.")
            if now - begin > LIMIT:
                raise CannotRunHere(
                    f"{doing}: gave up after {LIMIT / 60:.0f} minutes.", "Is the network slow?"
                )
            if now - told >= 1 and self.watch is not None:
                told = now
                self.say(f"{doing}: {size(self.watch) / 1e6:.0f} MB")


def _dies_with_us() -> list[str]:
    """Makes a command die with us (Linux); elsewhere it keeps the version's lock to its end."""
    found = shutil.which("setpriv")
    return [found, "--pdeathsig", "KILL"] if found else []


def _end(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, 9)
        process.wait()


def size(folder: Path) -> int:
    """Bytes of all files below a folder; what vanishes meanwhile counts nothing."""
    total = 0
    for at, _, names in os.walk(folder):
        for name in names:
            with suppress(OSError):
                total += (Path(at) / name).lstat().st_size
    return total


def clean_environment(home: Path) -> dict[str, str]:
    """What npm and pip see: an allow-list, and a HOME of their own."""
    env = {name: _USERINFO.sub("", os.environ[name]) for name in _PASSED if name in os.environ}
    return env | {"HOME": str(home), "TMPDIR": str(home), "NO_COLOR": "1", "CI": "true"}


def explain(doing: str, text: str, agent: str = "") -> HarnessError:
    """A failed command's words as ours: what went wrong and what to do."""
    for pattern, kind, what, advice in _TROUBLE:
        if re.search(pattern, text):
            return kind(f"{doing}: {what}", advice.format(agent=agent))
    lines = [line.strip() for line in text[-TAIL:].splitlines() if line.strip()]
    errors = [line for line in lines if re.match(r"(npm (error|ERR!)|ERROR)", line)] or lines
    return HarnessError(f"{doing} failed: {' '.join(errors[:3])[:400]}", "See its log.")


_OFFLINE = "Check the network, or use a version that is installed (`binaries list`)."
_TROUBLE: tuple[tuple[str, type[HarnessError], str, str], ...] = (
    (r"ENOSPC|No space left", CannotRunHere, "the disk is full.", "`binaries remove` frees some."),
    (
        r"Ignored the following versions that require a different python version[^\n]*\n"
        r"(.*\n)*?.*\(from versions: none\)",
        VersionCannotRun,
        "it needs another Python.",
        "Use another Python.",
    ),
    (
        r"ETARGET|No match found for version|Could not find a version.*\(from versions: (?!none)",
        UnknownVersion,
        "this version does not exist in the registry.",
        "See `binaries list {agent}`.",
    ),
    (r"E404|404 Not Found", UnknownName, "the registry does not know it.", "Is the name right?"),
    (
        r"EBADPLATFORM",
        VersionCannotRun,
        "there is no package for this platform.",
        "Choose another version.",
    ),
    (r"EBADENGINE", VersionCannotRun, "it needs a newer Node.", "Install a newer Node."),
    (
        r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|"
        r"NewConnectionError|Network is unreachable|Connection refused|"
        r"Temporary failure in name resolution|ConnectTimeout",
        CannotRunHere,
        "the registry cannot be reached.",
        _OFFLINE,
    ),
    # pip says this after a network's failure as well as of a name that nobody published.
    (
        r"\(from versions: none\)",
        CannotRunHere,
        "the index lists no version that fits this machine.",
        _OFFLINE,
    ),
    (
        r"E40[13]\b|Unauthorized|Forbidden",
        CannotRunHere,
        "the registry refuses it.",
        "Lifeline passes no tokens on; the registry must allow reading.",
    ),
)


def check(package: Package, version: str = "") -> None:
    """UnknownName when the package's or the version's name does not match its pattern."""
    if not NAME.fullmatch(package.name):
        raise UnknownName(f"{package.name!r} is no package name.")
    if version and not versions.valid(version):
        raise UnknownName(f"{version!r} is no version.", "Write it as 1.0.81.")


def bare(value: Any) -> str:
    """A configured value without the name and password that an address may carry."""
    text = str(value).lower() if isinstance(value, bool) else str(value)
    return _USERINFO.sub("", text)
