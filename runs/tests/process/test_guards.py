"""Each guard fires at its limit, with the name of its outcome; the first one is kept."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from runs import guards
from runs.errors import CannotRunHere
from runs.guards import MIB, Guards, Limits, Memory

PLENTY = Memory(free=100_000, commit=None)


class Clock:
    def __init__(self) -> None:
        self.now = 50.0

    def __call__(self) -> float:
        return self.now


async def test_it_fires_at_the_deadline_and_not_before() -> None:
    clock = Clock()
    watched = Guards(Limits(deadline=10), clock=clock, read_memory=lambda: PLENTY)
    clock.now += 9.9
    assert watched.look() is None
    clock.now += 0.1
    fired = watched.look()
    assert fired is not None
    assert fired.as_dict() == {"guard": "timeout", "limit": 10, "value": 10.0}


@pytest.mark.parametrize("memory", [Memory(99, None), Memory(5000, 99)])
async def test_it_fires_below_the_memory_floor(memory: Memory) -> None:
    fired = Guards(Limits(memory_floor_mib=100), read_memory=lambda: memory).look()
    assert fired is not None
    assert (fired.guard, fired.limit, fired.value) == ("guard-memory-floor", 100, 99)


async def test_it_counts_bytes_and_requests() -> None:
    watched = Guards(Limits(output_mib=1), read_memory=lambda: PLENTY)
    watched.output(MIB)
    assert watched.fired is None
    watched.output(1)
    assert watched.fired is not None
    assert watched.fired.guard == "guard-output-cap"
    watched = Guards(Limits(requests=2), read_memory=lambda: PLENTY)
    watched.request()
    watched.request()
    assert watched.fired is None
    watched.request()
    assert watched.fired is not None
    assert watched.fired.as_dict() == {"guard": "guard-request-cap", "limit": 2, "value": 3}


async def test_it_keeps_the_first_guard_that_fired() -> None:
    watched = Guards(Limits(requests=0, output_mib=0), read_memory=lambda: PLENTY)
    watched.request()
    watched.output(100)
    assert watched.fired is not None
    assert watched.fired.guard == "guard-request-cap"


async def test_it_wakes_at_once_when_a_count_fires() -> None:
    watched = Guards(Limits(requests=0), read_memory=lambda: PLENTY)
    task = asyncio.create_task(watched.watch(every=1000))
    await asyncio.sleep(0)
    watched.request()
    assert (await asyncio.wait_for(task, 20)).guard == "guard-request-cap"


def test_it_refuses_to_start_without_the_memory() -> None:
    guards.check_memory(1024, 512, read=lambda: Memory(1536, None))
    with pytest.raises(CannotRunHere, match="1535 MiB of free memory"):
        guards.check_memory(1024, 512, read=lambda: Memory(1535, None))
    with pytest.raises(CannotRunHere, match="commit"):
        guards.check_memory(1024, 512, read=lambda: Memory(9000, 100))


def test_it_reads_what_the_kernel_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    meminfo = tmp_path / "meminfo"
    meminfo.write_text(
        "MemTotal: 8192 kB\nMemAvailable: 2048 kB\nCommitLimit: 4096 kB\nCommitted_AS: 1024 kB\n"
    )
    monkeypatch.setattr(guards, "_commit_is_enforced", lambda: False)
    assert guards.memory(meminfo) == Memory(2, None)
    monkeypatch.setattr(guards, "_commit_is_enforced", lambda: True)
    assert guards.memory(meminfo) == Memory(2, 3)
    assert guards.memory(tmp_path / "none").free > 0


def test_it_measures_the_disk_without_following_links(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "large").write_bytes(b"x" * MIB)
    (tmp_path / "in" / "link").symlink_to(tmp_path / "out")
    assert guards.disk_use(tmp_path / "in") < 64 * 1024
    for number in range(100):
        (tmp_path / "in" / str(number)).touch()
    assert guards.disk_use(tmp_path / "in") >= 100 * 4096
    assert guards.disk_use(tmp_path / "in", stop_above=10_000) < 100 * 4096
