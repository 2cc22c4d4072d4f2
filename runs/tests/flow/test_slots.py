"""Slots: so many at once on a machine, over threads and processes, and free again after a kill."""

from __future__ import annotations

import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from runs import slots
from runs.tests.flow.holding import HOLDS


@pytest.fixture(autouse=True)
def _own_folder(settings: Any, tmp_path: Path) -> None:
    settings.VAR = tmp_path


def test_no_more_at_once_than_allowed(settings: Any) -> None:
    settings.CONCURRENCY = 2
    inside, most = 0, 0
    lock = threading.Lock()

    def work() -> None:
        nonlocal inside, most
        with slots.taken(lambda: True) as free:
            assert free
            with lock:
                inside += 1
                most = max(most, inside)
            time.sleep(0.1)
            with lock:
                inside -= 1

    threads = [threading.Thread(target=work) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert most == 2 and inside == 0


def test_a_killed_process_leaves_its_slot_free(settings: Any) -> None:
    settings.CONCURRENCY = 1
    slots.place().mkdir(parents=True)
    argv = [sys.executable, "-c", HOLDS, str(slots.place() / "0")]
    other = subprocess.Popen(argv, stdout=subprocess.PIPE)
    assert other.stdout is not None and other.stdout.readline() == b"held\n"
    with slots.taken(lambda: False) as free:
        assert not free, "the other process has it, and nobody wants to wait"
    other.kill()
    other.wait()
    with slots.taken(lambda: False) as free:
        assert free
