"""Which versions of an agent a text names: ``1.0.81``, ``1.0.60,1.0.81..latest`` or nothing."""

from __future__ import annotations

from runs import binaries, versions

LATEST = "latest"


def resolve(agent: str, version: str) -> str:
    """One version: nothing is :func:`binaries.newest`, ``latest`` is :func:`binaries.latest`."""
    if version == LATEST:
        return binaries.latest(agent)
    return version or binaries.newest(agent)


def expand(agent: str, text: str) -> list[str]:
    """Versions and ranges as people write them, as versions; see :func:`versions.expand`."""
    parts = [[end.strip() for end in part.split("..")] for part in text.split(",")]
    if any(LATEST in ends for ends in parts):
        latest = binaries.latest(agent)
        ends = [[latest if end == LATEST else end for end in part] for part in parts]
        text = ",".join("..".join(part) for part in ends)
    versions.check_ranges(text)
    known = [item.version for item in binaries.versions(agent)] if ".." in text else []
    return versions.expand(text, known)
