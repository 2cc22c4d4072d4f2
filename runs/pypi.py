"""Asks pip for the versions of a package, and installs one into an environment of its own."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

from runs import pythons, simple_index
from runs.driver import Package
from runs.errors import CannotRunHere
from runs.packages import Job, Published, bare, check
from runs.versions import valid

_KEYS = re.compile(
    r"index-url|extra-index-url|find-links|no-index|cert|proxy|trusted-host|constraint|"
    r"default-timeout|timeout"
)


@cache
def _configuration() -> Mapping[str, str]:
    """What this machine's pip is told about indexes, as environment variables."""
    shown = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, timeout=60
    )
    env = {"PIP_CONFIG_FILE": os.devnull, "PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_NO_INPUT": "1"}
    for line in shown.stdout.splitlines():
        name, equals, value = line.partition("=")
        name = name.rpartition(".")[2]
        if equals and _KEYS.fullmatch(name):
            with suppress(ValueError, SyntaxError):
                text = bare(ast.literal_eval(value)).replace("\n", " ")
                env["PIP_" + name.upper().replace("-", "_")] = text
    return env


def _job(job: Job) -> list[str]:
    probe = subprocess.run([sys.executable, "-m", "pip", "--version"], capture_output=True)
    if probe.returncode:
        raise CannotRunHere("pip is not installed.", "Install python3-pip and python3-venv.")
    job.extra = {**job.extra, **_configuration(), "PIP_NO_CACHE_DIR": "1"}
    return [sys.executable, "-m", "pip"]


def versions(package: Package, job: Job) -> list[Published]:
    """All versions of a Python package with their dates, oldest first."""
    argv = [*_job(job), "index", "versions", "--pre", package.name]
    if package.python:
        argv += ["--python-version", package.python]
    text = job.run(argv, f"asking pip for the versions of {package.name}")
    found = re.search(r"Available versions: (.+)", text)
    listed = [item.strip() for item in found[1].split(",")] if found else []
    return simple_index.complete(package.name, filter(valid, listed), _configuration())


def install(package: Package, version: str, folder: Path, job: Job) -> None:
    """Install one version into a virtual environment of its own, ``folder/venv``."""
    check(package, version)
    pip = _job(job)
    place = folder / "venv"
    job.watch = folder
    made = [pythons.fitting(package.python), "-m", "venv", "--without-pip", str(place)]
    job.run(made, "making its environment")
    python = place / "bin" / "python"
    argv = [*pip, "--python", str(python), "install", "--prefer-binary"]
    wanted = [f"{package.name}=={version}", *package.extra]
    job.run([*argv, *wanted], f"installing {version} with pip")
