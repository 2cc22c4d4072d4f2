"""What this machine can do for Lifeline, and what to do about what is missing.

Each check is a function that gives a :class:`Finding`; nothing is installed or changed.
"""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final, Literal

from django.conf import settings
from django.db import connection
from django.db.utils import Error

from dashboard import parts
from runs import guards, seal
from runs.errors import HarnessError

CHROMIUM: Final = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
NEED_DISK_MIB: Final = 2048
"""A handful of installed binaries and their runs."""
_MARKS: Final = {"ok": "✓", "less": "!", "missing": "✗"}


@dataclass(frozen=True, slots=True)
class Finding:
    """`state`: ok, less (works with less), missing (something does not work without it)."""

    name: str
    state: Literal["ok", "less", "missing"]
    says: str
    do: str = ""


def examine() -> list[Finding]:
    """Every check in its order; one that fails itself is reported as such."""
    return [_surely(check) for check in CHECKS]


def as_json(findings: list[Finding]) -> dict[str, object]:
    """For ``--json``."""
    return {"able": able(findings), "checks": [asdict(finding) for finding in findings]}


def able(findings: list[Finding]) -> bool:
    """Whether nothing is missing."""
    return all(finding.state != "missing" for finding in findings)


def lines(findings: list[Finding]) -> list[str]:
    """For a terminal: a line for each, and what to do below it."""
    width = max(len(finding.name) for finding in findings)
    text = []
    for finding in findings:
        text.append(f"{_MARKS[finding.state]} {finding.name:<{width}}  {finding.says}")
        if finding.do:
            text.append(f"  {'':<{width}}  → {finding.do}")
    return text


def _surely(check: Callable[[], Finding]) -> Finding:
    try:
        return check()
    except (OSError, HarnessError, subprocess.SubprocessError) as error:
        name = check.__name__.removeprefix("_").replace("_", " ")
        return Finding(name, "missing", f"cannot be found out: {error}")


def _python() -> Finding:
    return Finding("Python", "ok", f"{platform.python_version()} ({sys.executable})")


def _sealing() -> Finding:
    """Namespaces, by really starting something in them."""
    found = seal.best_seal()
    if found.whole:
        return Finding("Sealing", "ok", f"runs are sealed whole, by {found.bwrap or 'our minder'}")
    return Finding("Sealing", "less", found.why, "; ".join(_how_to_seal()))


def _how_to_seal() -> list[str]:
    """What an operator can do so that bubblewrap works."""
    if not sys.platform.startswith("linux"):
        return [
            "Only Linux can seal runs: use it in a virtual machine, or set "
            "LIFELINE_ALLOW_UNSEALED=1 to run agents without a seal"
        ]
    ways = []
    if not shutil.which("bwrap"):
        ways.append("install bubblewrap (apt install bubblewrap, dnf install bubblewrap)")
    for name, bad in (
        ("user.max_user_namespaces", "0"),
        ("kernel.unprivileged_userns_clone", "0"),
        ("kernel.apparmor_restrict_unprivileged_userns", "1"),
    ):
        path = Path("/proc/sys", *name.split("."))
        if path.exists() and path.read_text().strip() == bad:
            ways.append(f"user namespaces are switched off by {name} = {bad}")
    return [*ways, "or set LIFELINE_ALLOW_UNSEALED=1 to run agents without a seal"]


def _node() -> Finding:
    return _program(
        "Node", "node", "--version", "Agents that are JavaScript cannot run without Node.js."
    )


def _npm() -> Finding:
    return _program(
        "npm", "npm", "--version", "Without npm (it comes with Node.js) most agents cannot install."
    )


def _program(name: str, program: str, question: str, without: str) -> Finding:
    path = shutil.which(program)
    if path is None:
        return Finding(name, "less", "not found; the reference agent works without", without)
    answer = subprocess.run([path, question], capture_output=True, text=True, timeout=60)
    if answer.returncode != 0:
        return Finding(
            name, "less", f"{path} does not work: {answer.stderr.strip()[:200]}", without
        )
    return Finding(name, "ok", f"{answer.stdout.strip()[:40]} ({path})")


def _redis() -> Finding:
    if os.environ.get("REDIS_URL"):
        trouble = parts.redis_trouble(str(settings.REDIS_URL))
        if trouble:
            says = f"the one that REDIS_URL names does not answer: {trouble}"
            return Finding("Redis", "missing", says, "Start it, or mend or unset REDIS_URL.")
        return Finding("Redis", "ok", "the one that REDIS_URL names")
    try:
        return Finding("Redis", "ok", f"{parts.redis_program()}, started by `up`")
    except HarnessError as trouble:
        return Finding("Redis", "missing", trouble.what, trouble.do)


def _database() -> Finding:
    where = "PostgreSQL" if connection.vendor == "postgresql" else "SQLite"
    try:
        connection.ensure_connection()
    except Error as error:
        says = f"{where} does not answer: {str(error).strip()[:200]}"
        return Finding("Database", "missing", says, "Look at DATABASE_URL and the server's log.")
    return Finding("Database", "ok", where)


def _memory() -> Finding:
    now = guards.memory()
    least = now.free if now.commit is None else min(now.free, now.commit)
    floor = settings.MEMORY_FLOOR_MIB
    at_once = max(int((least - floor) // 512), 0)
    says = f"{least:,.0f} MiB free, of which {floor:,} MiB stay free: room for {at_once} runs"
    if at_once == 0:
        return Finding(
            "Memory", "missing", says, "End something else, or lower LIFELINE_MEMORY_FLOOR_MIB."
        )
    if at_once < settings.CONCURRENCY:
        advice = f"Set LIFELINE_CONCURRENCY={at_once} (it is {settings.CONCURRENCY})."
        return Finding("Memory", "less", says, advice)
    return Finding("Memory", "ok", f"{says}, {settings.CONCURRENCY} are started at once")


def _disk() -> Finding:
    places = {"var": settings.VAR, "binaries": settings.BINARIES}
    free = {name: _free_mib(path) for name, path in places.items()}
    says = ", ".join(f"{free[name]:,} MiB free for {name} ({places[name]})" for name in places)
    if min(free.values()) < NEED_DISK_MIB:
        return Finding(
            "Disk", "less", says, "Make room, or move LIFELINE_VAR and LIFELINE_BINARIES elsewhere."
        )
    return Finding("Disk", "ok", says)


def _free_mib(path: Path) -> int:
    while not path.exists():
        path = path.parent
    return shutil.disk_usage(path).free // guards.MIB


def chromium() -> str:
    """The path of a Chromium; "" where there is none."""
    return next(filter(None, map(shutil.which, CHROMIUM)), "")


def _browser() -> Finding:
    path = chromium()
    if path:
        return Finding("Chromium", "ok", path)
    return Finding(
        "Chromium",
        "less",
        "not found; only the browser tests need it",
        "Install it for `manage.py test` (apt install chromium).",
    )


CHECKS: Final = (
    _python,
    _sealing,
    _node,
    _npm,
    _redis,
    _database,
    _memory,
    _disk,
    _browser,
)
