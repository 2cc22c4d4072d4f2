"""What the records of an agent's version look like: by its protocol, else by recorded runs."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from runs import catalogue, models, shelf, store
from runs.core.drift import Description, of_records
from runs.versions import ordered

RUNS_READ = 12
"""Recorded runs of a version that are looked at, the latest ones."""
SAMPLES = 4
"""Records of one type that are looked at in one run."""
FILE_LIMIT = 16 << 20
"""Bytes of one raw file that are looked at."""
OURS = ("harness", "process", "provider", "config", "exit")
"""Views that are not the agent's own words."""


@dataclass(frozen=True, slots=True)
class Described:
    """A description and where it comes from: ``protocol``, ``runs``, or ``nothing``."""

    description: Description
    by: str
    runs: int = 0


def versions(agent: str) -> list[str]:
    """Versions of the agent that can be described, oldest first."""
    driver = catalogue.driver(agent)
    known = {*driver.described(), *_recorded(agent)}
    known |= {slot.version for slot in shelf.slots(agent) if driver.described()}
    return ordered(known)


def describe(agent: str, version: str) -> Described:
    """What its records look like; UnknownName when there is no such agent."""
    driver = catalogue.driver(agent)
    slot = shelf.Slot(agent, version)
    prepared = slot.folder / shelf.PREPARED
    found = driver.describe(version, prepared if prepared.is_dir() else None)
    if found is not None:
        return Described(found, "protocol")
    rows = list(_runs(agent, version))
    if not rows:
        return Described({}, "nothing")
    return Described(of_records(row for run in rows for row in _records(run)), "runs", len(rows))


def _recorded(agent: str) -> set[str]:
    rows = models.Run.objects.filter(agent=agent, event_count__gt=0)
    return set(rows.values_list("version", flat=True).distinct()[:500]) - {""}


def _runs(agent: str, version: str) -> list[models.Run]:
    rows = models.Run.objects.filter(agent=agent, version=version, event_count__gt=0)
    return list(rows.exclude(status__in=models.Run.OPEN).order_by("-pk")[:RUNS_READ])


def _records(run: models.Run) -> Iterator[tuple[str, str, Any]]:
    """View, the agent's own name and the record, a few of each type."""
    taken: Counter[tuple[str, str]] = Counter()
    files: dict[str, bytes] = {}
    rows = models.Event.objects.filter(run=run, offset__isnull=False).exclude(source__in=OURS)
    fields = ("source", "native", "file", "offset", "length")
    for view, native, file, offset, length in rows.order_by("seq").values_list(*fields):
        if not native or taken[view, native] >= SAMPLES:
            continue
        taken[view, native] += 1
        if file not in files:
            files[file] = (store.open_source(run, file) or b"")[:FILE_LIMIT]
        yield view, native, _record(files[file][offset : offset + (length or 0)])


def _record(line: bytes) -> Any:
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        return None
    # A recorder's envelope is ours: the message in it is the agent's.
    if isinstance(found, dict) and isinstance(found.get("msg"), dict) and "t" in found:
        return found["msg"]
    return found
