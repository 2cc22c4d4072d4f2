"""The timeline of a stored run as JSON text, made once and kept.

Reading a history costs time that grows with the run. So the timeline of a run that has
ended is kept under ``var/timelines`` (where no agent can write) with a key that says what
it was drawn from; a `rejudge` or a new finding gives another key. Of a run that goes on,
a :class:`Growing` keeps the events in memory and reads only the new ones.
"""

from __future__ import annotations

import hashlib
import json
import logging
import os
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from django.conf import settings

from runs import models, store
from runs.core.events import Event, Kind
from runs.core.history import History
from runs.core.law import Evidence, Finding, Verdict
from runs.core.timeline import timeline

log = logging.getLogger(__name__)
FOLDER = "timelines"
SHAPE = 1
"""Raise it when `runs.core.timeline` draws differently."""
_SILENT = (Kind.DELTA,)
"""Kinds that no lane shows; the newest event is read whatever it is, for the run's length."""
_COLUMNS = (
    "seq",
    "kind",
    "t",
    "agent",
    "source",
    "file",
    "line",
    "pointer",
    "native",
    "native_id",
    "data",
)


def text_of(run: models.Run) -> str:
    """The run's timeline as JSON text; of a run that has ended, from its folder if it is there."""
    if run.is_open:
        return _text(Growing(run.pk).draw(run))
    key = _key(run)
    kept = _kept(run, key)
    if kept is not None:
        return kept
    text = _text(Growing(run.pk).draw(run))
    _keep(run, key, text)
    return text


def prepare(run: models.Run) -> None:
    """Draw and keep the timeline of a run that has ended; a failure is logged and no more."""
    try:
        text_of(run)
    except Exception:
        log.exception("The timeline of run %s could not be drawn", run.permalink)


def keep(run: models.Run, history: History, findings: Iterable[Finding]) -> None:
    """Draw from a history that is at hand and keep it; `findings` are those that were stored."""
    _keep(run, _key(run), _text(timeline(history, findings)))


class Growing:
    """The events of a run as far as they were read, to be drawn again and again."""

    def __init__(self, run_id: int) -> None:
        self.run_id = run_id
        self.last = 0
        self.events: list[Event] = []

    def draw(self, run: models.Run) -> dict[str, Any]:
        """The timeline of all events that are stored by now."""
        self._read()
        complete = False if run.is_open else store.complete(run)
        return timeline(History(self.events, complete=complete), findings(run))

    def _read(self) -> None:
        rows = models.Event.objects.filter(run_id=self.run_id, seq__gt=self.last)
        newest = rows.order_by("-seq").values_list(*_COLUMNS).first()
        if newest is None:
            return
        wanted = rows.filter(seq__lt=newest[0]).exclude(kind__in=_SILENT).order_by("seq")
        for row in wanted.values_list(*_COLUMNS).iterator(chunk_size=2000):
            self.events.append(_event(row))
        self.events.append(_event(newest))
        self.last = newest[0]


def _event(row: tuple[Any, ...]) -> Event:
    seq, kind, t, agent, source, file, line, pointer, native, native_id, data = row
    return Event(
        seq=seq,
        kind=Kind(kind),
        t=t,
        agent=agent,
        source=source,
        file=file,
        line=line,
        pointer=pointer,
        native=native,
        native_id=native_id,
        data=data,
    )


def findings(run: models.Run) -> list[Finding]:
    """The stored findings of the run, as the pure core's objects."""
    rows = models.Finding.objects.filter(run=run).order_by("position", "pk")
    return [
        Finding(
            law=row.law,
            verdict=Verdict(row.verdict),
            agent=row.agent,
            reason=row.reason,
            evidence=tuple(Evidence(item["seq"], item["ref"]) for item in row.evidence),
            because=row.because,
            label=row.label,
            figures=row.figures,
        )
        for row in rows
    ]


def _key(run: models.Run) -> str:
    broken = models.Finding.objects.filter(run=run, verdict="broken").order_by("position", "pk")
    drawn_from: list[Any] = [SHAPE, run.event_count, store.complete(run)]
    drawn_from += broken.values_list("law", "evidence")
    return hashlib.sha256(json.dumps(drawn_from).encode()).hexdigest()


def _text(drawn: dict[str, Any]) -> str:
    return json.dumps(drawn, ensure_ascii=False, separators=(",", ":"))


def path_of(run: models.Run) -> Path:
    """Where the timeline of the run is kept."""
    return Path(settings.VAR) / FOLDER / f"{run.permalink}.json"


def forget(run: models.Run) -> None:
    """Remove what is kept of the run."""
    path_of(run).unlink(missing_ok=True)


def _kept(run: models.Run, key: str) -> str | None:
    try:
        held, _, text = path_of(run).read_text(encoding="utf-8").partition("\n")
    except (OSError, UnicodeDecodeError):
        return None
    return text if held == key else None


def _keep(run: models.Run, key: str, text: str) -> None:
    """Write beside and rename; a full disk or a folder that is gone costs the next one time."""
    path = path_of(run)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        with os.fdopen(descriptor, "w", encoding="utf-8") as file:
            file.write(f"{key}\n{text}")
        Path(name).replace(path)
    except OSError:
        return
