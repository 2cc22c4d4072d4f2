"""This machine in the words that npm's packages have for platforms."""

from __future__ import annotations

import platform

_MACHINES = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64"}


def here() -> str:
    """``linux-x64``, ``linux-arm64``, ``darwin-arm64``."""
    name = platform.machine().lower()
    return f"{platform.system().lower()}-{_MACHINES.get(name, name)}"


def musl() -> bool:
    """Whether this is a Linux with another C library than glibc."""
    return platform.system() == "Linux" and platform.libc_ver()[0] != "glibc"
