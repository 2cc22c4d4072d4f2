"""The timeline of a watched run: drawn once for all its watchers, sent as changes.

A picture has a version. A watcher that holds the version before gets only what
changed (:func:`change`), any other the whole. Drawing again waits at least
half a second, and four times as long as the last one took, so that a long run
never keeps the process busy with drawing.
"""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections.abc import Callable, Sequence
from typing import Any

from dashboard import reading
from runs import pictures
from runs.models import Run

log = logging.getLogger(__name__)

SPACING = 0.5
"""Seconds between two pictures of one run, at least."""
_LISTS = ("bars", "marks", "gaps")


def timeline_of(run_id: int) -> dict[str, Any]:
    """The run's timeline as `runs.core.timeline` draws it from the stored events."""
    drawn: dict[str, Any] = json.loads(pictures.text_of(Run.objects.get(pk=run_id)))
    return drawn


class Picture:
    """The newest timeline of one run, kept fresh while somebody watches."""

    def __init__(self, run_id: int, tell: Callable[[], None]) -> None:
        self.run_id = run_id
        self.version = 0
        self._tell = tell
        self._stale = asyncio.Event()
        self._drawn_for: object = None
        self._wanted: object = ()
        self._growing: pictures.Growing | None = None
        self._now: dict[str, Any] = {}
        self._whole = ""
        self._change = ""

    def stale(self, wanted: object) -> None:
        """The run moved on to the state `wanted`: draw again when the spacing allows."""
        self._wanted = wanted
        self._stale.set()

    async def message(self, held: int) -> tuple[int, str]:
        """Version and text that bring a watcher who holds version `held` to the newest."""
        version, now = self.version, self._now
        if held and held == version - 1 and self._change:
            return version, self._change
        whole = self._whole
        if not whole:
            whole = await reading.in_picture_thread(reading.compact, now)
            if version == self.version:
                self._whole = whole
        return version, f'{{"type":"timeline","version":{version},"timeline":{whole}}}'

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
            now, whole, changed = await reading.in_picture_thread(self._drawn)
        except Run.DoesNotExist:
            return
        except Exception:  # a picture that cannot be drawn must not end the live part
            log.exception("The timeline of run %s could not be drawn.", self.run_id)
            return
        self._drawn_for = wanted
        self.version += 1
        self._now, self._whole, self._change = now, whole, changed
        self._tell()

    def _drawn(self) -> tuple[dict[str, Any], str, str]:
        """In the picture thread: the timeline, its text if at hand, the text of the change."""
        run = Run.objects.get(pk=self.run_id)
        if not run.is_open:
            self._growing = None
            return {}, pictures.text_of(run), ""
        self._growing = self._growing or pictures.Growing(self.run_id)
        now = self._growing.draw(run)
        changes = change(self._now, now)
        version = self.version + 1
        return (
            now,
            "",
            reading.compact({"type": "timeline", "version": version, "change": changes}),
        )


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
