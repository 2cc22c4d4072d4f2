"""Nothing that was seen is lost where the database or the disk refuses it, once or for good."""

from __future__ import annotations

import asyncio
import time
from typing import Any

import pytest
from django.db import DataError, OperationalError

from runs import execute, ingest, models, recorder, start
from runs.core.events import Draft, Kind
from runs.recorder import Recorder

pytestmark = pytest.mark.django_db(transaction=True)


def _run() -> models.Run:
    return start.create("reference", "1.0.0", "success", queue=False)[0]


def _note(text: str) -> Draft:
    return Draft(
        kind=Kind.PHASE, source="harness", file="harness", at=time.time(), data={"phase": text}
    )


def _refusing(monkeypatch: pytest.MonkeyPatch, times: int, *, after: bool = False) -> list[int]:
    """The database refuses so many batches; `after` it took them (a connection that breaks)."""
    monkeypatch.setattr(recorder, "AGAIN", 0.01)
    write, asked = Recorder._write, [0]

    def refuse(self: Recorder, batch: list[models.Event], again: bool) -> None:
        asked[0] += 1
        if asked[0] > times:
            write(self, batch, again)
            return
        if after:
            write(self, batch, again)
        raise OperationalError("database or disk is full")

    monkeypatch.setattr(Recorder, "_write", refuse)
    return asked


def _recorded(run: models.Run, count: int, *, started: bool = True) -> None:
    async def go() -> None:
        kept = Recorder(run.pk, time.time())
        if started:
            kept.start()
        for number in range(count):
            kept.add(_note(str(number)))
            await asyncio.sleep(0)
        await kept.stop()

    asyncio.run(go())


@pytest.mark.parametrize("after", [False, True])
@pytest.mark.parametrize("started", [False, True])
def test_a_batch_that_was_refused_is_offered_again(
    monkeypatch: pytest.MonkeyPatch, after: bool, started: bool
) -> None:
    run = _run()
    asked = _refusing(monkeypatch, 3, after=after)
    _recorded(run, 20, started=started)
    seqs = models.Event.objects.filter(run=run).order_by("seq").values_list("seq", flat=True)
    assert list(seqs) == list(range(1, 21)) and asked[0] > 3
    run.refresh_from_db()
    assert run.event_count == 20


def test_what_is_refused_for_good_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recorder, "PATIENCE", 0.05)
    _refusing(monkeypatch, 10_000)
    with pytest.raises(OperationalError):
        _recorded(_run(), 3)


def test_what_cannot_be_stored_is_an_error_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> None:
        raise DataError("not a value")

    monkeypatch.setattr(Recorder, "_write", refuse)
    with pytest.raises(DataError):
        _recorded(_run(), 3)


def test_a_disk_that_takes_no_evidence_is_no_silence_of_the_agent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    feed = ingest.LineFeed.feed

    def full(self: ingest.LineFeed, data: bytes) -> None:
        if self.name == "stdout.jsonl":
            raise OSError(28, "No space left on device")
        feed(self, data)

    monkeypatch.setattr(ingest.LineFeed, "feed", full)
    run = execute.execute(_run().pk, "here:1")
    assert run is not None and run.status == "errored"
    assert "no room left" in run.error["what"] and run.error["do"]
