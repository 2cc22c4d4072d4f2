"""Versions that the start form and the agents page offer; never asks a registry by itself."""

from __future__ import annotations

from runs import binaries, catalogue
from runs.errors import HarnessError

OFFERED = 200


def choices() -> dict[str, list[tuple[str, str]]]:
    """By agent: version and "installed", "registered" or its date, newest first."""
    return {agent: of_agent(agent) for agent in catalogue.drivers()}


def of_agent(agent: str) -> list[tuple[str, str]]:
    """The same for one agent; nothing for one that has no driver (an import)."""
    if agent not in catalogue.drivers():
        return []
    notes: dict[str, str] = {}
    try:
        for known in binaries.versions(agent, refresh=False):
            note = f"published {known.date[:10]}" if known.date else "known"
            notes[known.version] = note if known.here else f"{note}, no package for this platform"
        for here in binaries.installed(agent):
            word = "registered" if here.registered else "installed"
            notes[here.version] = word if here.starts else f"{word}, does not start"
    except (HarnessError, OSError):
        return []
    return list(reversed(notes.items()))[:OFFERED]
