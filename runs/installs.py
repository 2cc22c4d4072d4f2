"""Installing as a job with a row in the database: progress, log and error for the pages.

The files are the truth (``runs/binaries.py``); these rows only show them.
"""

from __future__ import annotations

import time
from contextlib import suppress

from django.db import DatabaseError
from django.utils import timezone

from runs import binaries
from runs.driver import Binary, Say
from runs.errors import HarnessError
from runs.models import Installation
from runs.shelf import Slot

EVERY = 0.5
"""Seconds between two writes of progress."""
LONGEST_LOG = 200_000


def queue(agent: str, version: str) -> Installation:
    """The job's row, queued anew unless it is being worked on."""
    row, _ = Installation.objects.get_or_create(agent=agent, version=version)
    if row.state not in (Installation.State.INSTALLING, Installation.State.QUEUED):
        row.state, row.progress, row.error = Installation.State.QUEUED, "", {}
        row.ended_at = None
        row.save()
    return row


def install(agent: str, version: str, say: Say | None = None) -> Binary:
    """Install with the row kept up to date; HarnessError as from ``binaries.ensure``."""
    row = queue(agent, version)
    told = 0.0

    def tell(line: str) -> None:
        nonlocal told
        if say is not None:
            say(line)
        if time.monotonic() - told >= EVERY:
            told = time.monotonic()
            _save(row, state=Installation.State.INSTALLING, progress=line[:200])

    tell("starting")
    try:
        binary = binaries.ensure(agent, version, tell)
    except HarnessError as error:
        _save(
            row,
            state=Installation.State.FAILED,
            progress="",
            error={"what": error.what, "do": error.do},
            log=_log(agent, version),
            ended_at=timezone.now(),
        )
        raise
    _save(
        row,
        state=Installation.State.READY,
        progress="",
        error={},
        log=_log(agent, version),
        ended_at=timezone.now(),
    )
    return binary


def remove(agent: str, version: str) -> int:
    """Remove the installation and its row; gives the bytes freed."""
    freed = binaries.remove(agent, version)
    Installation.objects.filter(agent=agent, version=version).delete()
    return freed


def pin(agent: str, version: str, on: bool) -> None:
    """Pin or unpin it, on disk and in its row."""
    binaries.pin(agent, version, on)
    Installation.objects.update_or_create(
        agent=agent,
        version=version,
        defaults={"pinned": on, "state": Installation.State.READY},
    )


def _save(row: Installation, **fields: object) -> None:
    """A row that cannot be written does not stop an installation."""
    with suppress(DatabaseError):
        Installation.objects.filter(pk=row.pk).update(**fields)


def _log(agent: str, version: str) -> str:
    try:
        return Slot(agent, version).log.read_text(errors="replace")[-LONGEST_LOG:]
    except (OSError, HarnessError):
        return ""
