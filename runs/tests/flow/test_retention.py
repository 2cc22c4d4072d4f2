"""Old runs go by themselves, if somebody asked for that, and only those that nobody keeps."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from runs import retention, store
from runs.models import Event, Run, Share

pytestmark = pytest.mark.django_db
MIB = 1 << 20


def old(days: float, **fields: Any) -> Run:
    """A run that ended so many days ago, with a folder and an event."""
    then = timezone.now() - timedelta(days=days)
    given = {"agent": "reference", "version": "1", "status": "ended", "ended_at": then}
    run = Run.objects.create(**(given | fields))
    (store.folder(run) / "sources").mkdir(parents=True)
    Event.objects.create(run=run, seq=1, kind="error", source="stdout", file="stdout.jsonl")
    return run


def left() -> set[int]:
    return set(Run.objects.values_list("pk", flat=True))


def test_it_removes_nothing_unless_asked() -> None:
    run = old(days=5000, size=1 << 50)
    assert retention.tidy() == 0
    assert left() == {run.pk}


def test_it_removes_by_age_with_events_and_files(settings: Any) -> None:
    settings.KEEP_DAYS = 30
    gone, stays = old(days=31), old(days=29)
    assert retention.tidy() == 1
    assert left() == {stays.pk}
    assert not Event.objects.filter(run_id=gone.pk).exists()
    assert not store.folder(gone).exists()
    assert store.folder(stays).exists()


def test_it_removes_the_oldest_until_the_size_fits(settings: Any) -> None:
    settings.KEEP_GIB = 10 / 1024
    runs = [old(days=9 - at, size=4 * MIB) for at in range(4)]
    assert retention.tidy() == 2
    assert left() == {runs[2].pk, runs[3].pk}


def test_it_spares_what_is_kept_open_or_shared(settings: Any) -> None:
    settings.KEEP_DAYS, settings.KEEP_GIB = 1, 1 / 1024
    spared = [old(days=90, size=9 * MIB, keep=True), old(days=90, size=9 * MIB, status="running")]
    shared, revoked = old(days=90, size=9 * MIB), old(days=90, size=9 * MIB)
    later = timezone.now() + timedelta(days=7)
    Share.objects.create(run=shared, level="structure", expires_at=later)
    Share.objects.create(run=revoked, level="structure", expires_at=later, revoked_at=later)
    assert retention.tidy() == 1
    assert left() == {*(run.pk for run in spared), shared.pk}
