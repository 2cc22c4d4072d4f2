"""The timeline of a watched run: computed once for all its watchers, sent as changes.

A picture has a version. A watcher that holds the version before gets only what
changed (:func:`change`), any other the whole. Recomputing waits at least
half a second, and four times as long as the last one took, so that a long run
never keeps the process busy with drawing.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from dashboard import reading
from runs import store
from runs.core import law
from runs.core.timeline import timeline
from runs.models import Finding, Run

log = logging.getLogger(__name__)

SPACING = 0.5
"""Seconds between two pictures of one run, at least."""
_LISTS = ("bars", "marks", "gaps")


def timeline_of(run_id: int) -> dict[str, Any]:
    """The run's timeline as `runs.core.timeline` draws it from the stored events."""
    run = Run.objects.get(pk=run_id)
    return timeline(store.history(run), stored_findings(run_id))


def stored_findings(run_id: int) -> list[law.Finding]:
    """The findings that were stored for the run, as the pure core's objects."""
    rows = Finding.objects.filter(run_id=run_id).order_by("position", "pk")
    return [
        law.Finding(
            law=row.law,
            verdict=law.Verdict(row.verdict),
            agent=row.agent,
            reason=row.reason,
            evidence=tuple(law.Evidence(item["seq"], item["ref"]) for item in row.evidence),
            because=row.because,
            label=row.label,
            figures=row.figures,
        )
        for row in rows
    ]


class Picture:
    """The newest timeline of one run, kept fresh while somebody watches."""

    def __init__(self, run_id: int, tell: Callable[[], None]) -> None:
        self.run_id = run_id
        self.version = 0
        self._tell = tell
        self._stale = asyncio.Event()
        self._drawn_for: tuple[str | None, int] | None = None
        self._wanted: tuple[str | None, int] = (None, 0)
        self._now: dict[str, Any] = {}
        self._whole = ""
        self._change = ""

    def stale(self, status: str | None, tip: int) -> None:
        """The run moved on: draw again when the spacing allows."""
        self._wanted = (status, tip)
        self._stale.set()

    def message(self, held: int) -> str:
        """The text that brings a watcher who holds version `held` to the newest."""
        if held and held == self.version - 1:
            return self._change
        if not self._whole:
            self._whole = reading.compact(
                {"type": "timeline", "version": self.version, "timeline": self._now}
            )
        return self._whole

    async def keep(self) -> None:
        """Draw whenever the picture is stale, for as long as the hub lives."""
        while True:
            await self._stale.wait()
            self._stale.clear()
            started = time.monotonic()
            await self._draw()
            took = time.monotonic() - started
            await asyncio.sleep(max(SPACING, 4 * took) - took)

    async def _draw(self) -> None:
        wanted = self._wanted
        if wanted == self._drawn_for:
            return
        try:
            drawn = await reading.in_picture_thread(timeline_of, self.run_id)
            changes = await reading.in_picture_thread(change, self._now, drawn)
        except Exception:  # a picture that cannot be drawn must not end the live part
            log.exception("The timeline of run %s could not be drawn.", self.run_id)
            return
        self._drawn_for = wanted
        self.version += 1
        self._now, self._whole = drawn, ""
        self._change = reading.compact(
            {"type": "timeline", "version": self.version, "change": changes}
        )
        self._tell()


def change(old: dict[str, Any], new: dict[str, Any]) -> dict[str, Any]:
    """What turns the timeline `old` into `new`.

    ``{"duration", "ended", "order": [lane ids], "lanes": [changed lanes], "samples"}``;
    each list of a changed lane is ``[kept, tail]``: how many of the old items stay at
    its front, and what comes after them.
    """
    before = {lane["id"]: lane for lane in old.get("lanes", ())}
    lanes = []
    for lane in new["lanes"]:
        was = before.get(lane["id"], {})
        if was != lane:
            lists = {name: _tail(was.get(name, ()), lane.get(name, ())) for name in _LISTS}
            lanes.append({**lane, **lists})
    return {
        **{key: value for key, value in new.items() if key not in ("lanes", "samples")},
        "order": [lane["id"] for lane in new["lanes"]],
        "lanes": lanes,
        "samples": _tail(old.get("samples", ()), new.get("samples", ())),
    }


def _tail(old: Sequence[Any], new: Sequence[Any]) -> list[Any]:
    kept = 0
    for was, now in zip(old, new, strict=False):
        if was != now:
            break
        kept += 1
    return [kept, list(new[kept:])]
