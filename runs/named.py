"""Which agents and versions a text names: ``copilot``, ``codex@1.0.60,1.0.81..latest``."""

from __future__ import annotations

from runs import binaries, catalogue, versions
from runs.errors import UnknownName

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
    return versions.expand(agent, text, known)


def binaries_of(text: str) -> list[tuple[str, str]]:
    """``copilot@1.0.60,1.0.81..1.0.102,reference`` as agents and versions, in that order.

    A part with ``@``, or that is an agent's name, begins that agent; other parts are more
    versions of it. An agent without a version gets the newest that can start.
    """
    groups: list[tuple[str, list[str]]] = []
    for part in (piece.strip() for piece in text.replace(" ", ",").split(",")):
        if not part:
            continue
        name, at, version = part.partition("@")
        if at or name in catalogue.drivers():
            catalogue.driver(name)
            groups.append((name, [version] if version else []))
        elif groups:
            groups[-1][1].append(part)
        else:
            raise UnknownName(f"{part!r} names no agent.", "Write AGENT@VERSION,VERSION…")
    found: list[tuple[str, str]] = []
    for name, parts in groups:
        chosen = expand(name, ",".join(parts)) if parts else [binaries.newest(name)]
        found += [(name, version) for version in chosen]
    return list(dict.fromkeys(found))
