"""How a bench gets a process, a state folder and, if it asks, an instance of its own."""

from __future__ import annotations

import contextlib
import json
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import psutil
from django.conf import settings

from runs.bench import Bench
from runs.errors import HarnessError

INSIDE = "LIFELINE_BENCH"
"""Set in the process of a bench."""
READY = 120.0
_STRANGE = ("LIFELINE_VAR", "LIFELINE_TOKEN", "LIFELINE_HOST", "DATABASE_URL", "REDIS_URL")


def in_own_process(name: str, bench: Bench) -> list[dict[str, Any]]:
    """The figures of a bench, as JSON rows; HarnessError says why there are none."""
    with own_folder() as var:
        env = environment(var)
        with instance(env) if bench.up else contextlib.nullcontext():
            done = subprocess.run(
                [sys.executable, "manage.py", "bench", name],
                cwd=settings.BASE,
                env=env | {INSIDE: "1"},
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                text=True,
            )
    try:
        told = json.loads(done.stdout)
    except ValueError:
        raise HarnessError(
            f"It ended with {done.returncode}.", "What it said stands above."
        ) from None
    if "trouble" in told:
        raise HarnessError(told["trouble"])
    figures: list[dict[str, Any]] = told["figures"]
    return figures


@contextlib.contextmanager
def own_folder() -> Iterator[Path]:
    """A state folder that is gone afterwards."""
    folder = Path(tempfile.mkdtemp(prefix="lifeline-bench-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def environment(var: Path) -> dict[str, str]:
    """Ours, with that state folder, its SQLite and no address of somebody else's parts."""
    kept = {key: value for key, value in os.environ.items() if key not in _STRANGE}
    return kept | {"LIFELINE_VAR": str(var), "LIFELINE_CONCURRENCY": "1"}


@contextlib.contextmanager
def instance(env: Mapping[str, str]) -> Iterator[subprocess.Popen[str]]:
    """A running `up` in that environment, on any free port; ended afterwards."""
    process = subprocess.Popen(
        [sys.executable, "manage.py", "up", "--port", "0"],
        cwd=settings.BASE,
        env=dict(env),
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        assert process.stdout is not None
        if "Lifeline is at" not in process.stdout.readline():
            raise HarnessError("`up` did not become ready.", "What it said stands above.")
        yield process
    finally:
        process.terminate()
        try:
            process.wait(30)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()


def address(var: Path) -> str:
    """Where the instance of that folder is, with a slash at the end."""
    until = time.monotonic() + READY
    while time.monotonic() < until:
        with contextlib.suppress(OSError, ValueError, KeyError):
            return str(json.loads((var / "instance.json").read_text())["address"])
        time.sleep(0.1)
    raise HarnessError("The instance does not say where it is.")


def web_of(var: Path) -> psutil.Process:
    """The web server among the processes of the instance that runs from that folder."""
    up = psutil.Process(int(json.loads((var / "instance.json").read_text())["pid"]))
    for process in up.children(recursive=True):
        if "daphne" in " ".join(process.cmdline()):
            return process
    raise HarnessError("The instance has no web server.")


def busy(process: psutil.Process) -> float:
    """Seconds of processor time that it has used."""
    times = process.cpu_times()
    return float(times.user + times.system)


def machine() -> dict[str, Any]:
    """What kind of machine this is, without its name."""
    return {
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "cores": os.cpu_count(),
        "memory_gib": round(psutil.virtual_memory().total / 2**30, 1),
        "load": round(os.getloadavg()[0], 1),
    }
