"""Finds a Python that is new enough for a package: ours, one on the PATH, or one beside ours.

Several versions are often kept side by side, a folder each (``…/versions/3.12.1``), and
reach the PATH through stand-ins that may point nowhere: a candidate counts when it runs.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

from runs.errors import VersionCannotRun
from runs.versions import release

NEWEST = 20
"""The highest minor version of Python 3 that is looked for."""


def ours() -> Path:
    """The Python that runs us, outside of any virtual environment: it has no package at all."""
    return Path(getattr(sys, "_base_executable", sys.executable)).resolve()


@cache
def fitting(lowest: str) -> str:
    """The path of the oldest Python that is at least `lowest` (``3.12``; empty: ours).

    Old first, for what a package was tested with is nearer to the lowest. VersionCannotRun
    when there is none.
    """
    wanted = release(lowest) if lowest else ()
    if wanted <= sys.version_info[:2]:
        return sys.executable
    for path in _candidates(wanted[1]):
        if _runs(path):
            return path
    raise VersionCannotRun(
        f"The package needs Python {lowest} or newer.", f"Install Python {lowest}."
    )


def _candidates(minor: int) -> Iterator[str]:
    beside = Path(sys.base_prefix).parent
    for each in range(minor, NEWEST):
        name = f"python3.{each}"
        found = shutil.which(name)
        if found:
            yield found
        yield from sorted(map(str, beside.glob(f"*/bin/{name}")))


def _runs(path: str) -> bool:
    code = "import sys, venv; sys.exit(0)"
    try:
        return not subprocess.run([path, "-c", code], capture_output=True, timeout=60).returncode
    except (OSError, subprocess.TimeoutExpired):
        return False
