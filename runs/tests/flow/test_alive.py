"""A run is lost when nobody has it in hand, not when its heartbeat is old."""

from __future__ import annotations

import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import timezone

from runs import alive, execute, models, slots, start, tasks, verdict, watch
from runs.tests.flow.holding import HOLDS

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Path) -> None:
    settings.VAR = tmp_path


def _silent_run(worker: str) -> models.Run:
    (run,) = start.create("reference", "1.0.0", "success", queue=False)
    old = timezone.now() - timedelta(hours=1)  # a clock that was set, or a sleep of the machine
    models.Run.objects.filter(pk=run.pk).update(
        status="running", worker=worker, started_at=old, heartbeat_at=old
    )
    return run


@pytest.mark.parametrize("worker", [tasks.worker_name(), "import"], ids=["worker", "import"])
def test_a_silent_run_that_is_in_hand_is_not_lost(worker: str) -> None:
    run = _silent_run(worker)
    with alive.held(run.pk):
        assert tasks.reap_lost() == 0
    assert tasks.reap_lost() == 1, "its process let it go without an end"
    assert not list(slots.place().iterdir())


def test_who_comes_second_does_not_take_the_lock_away() -> None:
    with alive.held(7):
        with alive.held(7):
            pass
        assert alive.is_held(7)


def test_a_killed_process_has_no_run_in_hand() -> None:
    run = _silent_run(tasks.worker_name())
    path = slots.place() / f"run-{run.pk}"
    path.parent.mkdir(parents=True)
    other = subprocess.Popen([sys.executable, "-c", HOLDS, str(path)], stdout=subprocess.PIPE)
    assert other.stdout is not None and other.stdout.readline() == b"held\n"
    assert tasks.reap_lost() == 0
    other.kill()
    other.wait()
    assert tasks.reap_lost() == 1


def test_without_a_place_for_locks_a_run_goes_on(monkeypatch: Any, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setattr(slots, "place", lambda: file)
    with alive.held(1):
        assert not alive.is_held(1)


def test_a_run_beats_while_it_is_judged(monkeypatch: Any) -> None:
    monkeypatch.setattr(watch, "BEAT", 0.0)
    monkeypatch.setattr(watch, "LOOK", 0.01)
    (run,) = start.create("reference", "1.0.0", "success", queue=False)
    close = verdict.close
    seen: list[str] = []

    def slow(run: models.Run, *rest: Any) -> None:
        mine = models.Run.objects.filter(pk=run.pk)
        begun = mine.get().heartbeat_at
        for _ in range(5_000):
            now = mine.get()
            if now.heartbeat_at != begun and now.phase == "judging":
                seen.append(now.phase)
                break
        close(run, *rest)

    monkeypatch.setattr(verdict, "close", slow)
    done = execute.execute(run.pk, "here:1")
    assert done is not None and done.status == "ended" and seen
