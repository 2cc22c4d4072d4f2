"""What is measured of a tree agrees with what runs in it."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest

from runs import sample
from runs.sample import Sampler, Stat

BUSY = "import time\nend = time.process_time() + 0.4\nwhile time.process_time() < end: pass\n"
TREE = (
    "import subprocess, sys\nblock = bytearray(b'x' * 40_000_000)\n"
    "child = subprocess.Popen([sys.executable, '-S', '-c', sys.argv[1] + 'input()'])\n"
    "print('ready', flush=True)\nchild.wait()"
)


@pytest.fixture
def tree() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(
        [sys.executable, "-S", "-c", TREE, BUSY], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        process.stdout.readline()
        yield process
        process.communicate(b"\n")


def test_it_adds_up_memory_and_time_of_the_whole_tree(tree: subprocess.Popen[bytes]) -> None:
    sampler = Sampler(os.getpid())
    first = sampler.measure()
    assert first["processes"] == 2
    assert first["rss"] > 45_000_000
    spent, started = 0.0, time.monotonic()
    while spent < 0.3 and time.monotonic() - started < 60:
        before = time.monotonic()
        time.sleep(0.1)
        spent += sampler.measure()["cpu"] / 100 * (time.monotonic() - before)
    assert spent >= 0.3


def test_it_counts_nothing_when_the_root_is_gone_and_kills_what_was_seen(
    tree: subprocess.Popen[bytes],
) -> None:
    sampler = Sampler(os.getpid())
    assert len(sampler.tree()) == 2
    assert sampler.kill_survivors() == 2
    tree.wait()
    assert sampler.kill_survivors() == 0
    assert Sampler(tree.pid).measure() == {"rss": 0, "cpu": 0.0, "processes": 0}


def test_it_reads_strangers_once_and_sees_new_processes() -> None:
    known: set[int] = {os.getpid(), 4_000_000_000}
    assert os.getpid() not in sample.read_new(known)
    assert known == {os.getpid()}
    sampler = Sampler(os.getpid())
    assert sampler.measure()["processes"] == 0
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE) as process:
        assert list(sampler.tree()) == [process.pid]
        process.communicate()


def test_it_agrees_with_the_slower_way() -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("there is only the slower way on this system")
    fast, slow = sample.read(os.getpid()), sample._by_psutil()[os.getpid()]
    assert isinstance(fast, Stat)
    assert fast.parent == slow.parent
    assert abs(fast.cpu - slow.cpu) < 1
    assert 0.5 < fast.rss / slow.rss < 2
