"""What is measured of a tree agrees with what runs in it."""

from __future__ import annotations

import json
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
    "child = subprocess.Popen([sys.executable, '-S', '-c', sys.argv[1] + 'time.sleep(600)'])\n"
    "print('ready', flush=True)\nchild.wait()"
)
ROOT = (
    "import json, subprocess, sys\nfor line in sys.stdin:\n"
    "    made = subprocess.Popen(json.loads(line), stdout=subprocess.PIPE)\n"
    "    made.stdout.readline()\n    print(made.pid, flush=True)"
)
"""Starts what it reads; a process of ours may have children of other tests."""


class Root:
    """A process of its own that starts others on request."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self.process = process
        self.pid = process.pid

    def start(self, *command: str) -> int:
        """Start a program, wait for its first line; gives its pid."""
        assert self.process.stdin is not None and self.process.stdout is not None
        self.process.stdin.write(json.dumps(command) + "\n")
        self.process.stdin.flush()
        return int(self.process.stdout.readline())


@pytest.fixture
def root() -> Iterator[Root]:
    with subprocess.Popen(
        [sys.executable, "-S", "-c", ROOT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        sampler = Sampler(process.pid)
        yield Root(process)
        sampler.tree()
        sampler.kill_survivors()
        process.kill()


@pytest.fixture
def tree(root: Root) -> Root:
    root.start(sys.executable, "-S", "-c", TREE, BUSY)
    return root


def test_it_adds_up_memory_and_time_of_the_whole_tree(tree: Root) -> None:
    sampler = Sampler(tree.pid)
    first = sampler.measure()
    assert first["processes"] == 2
    assert first["rss"] > 45_000_000
    spent, started = 0.0, time.monotonic()
    while spent < 0.3 and time.monotonic() - started < 60:
        before = time.monotonic()
        time.sleep(0.1)
        spent += sampler.measure()["cpu"] / 100 * (time.monotonic() - before)
    assert spent >= 0.3


def test_it_counts_nothing_when_the_root_is_gone_and_kills_what_was_seen(tree: Root) -> None:
    sampler = Sampler(tree.pid)
    assert len(sampler.tree()) == 2
    tree.process.kill()
    tree.process.wait()
    assert sampler.kill_survivors() == 2
    assert Sampler(tree.pid).measure() == {"rss": 0, "cpu": 0.0, "processes": 0}


def test_it_reads_strangers_once_and_sees_new_processes(root: Root) -> None:
    known: set[int] = {root.pid, 4_000_000_000}
    assert root.pid not in sample.read_new(known)
    assert known == {root.pid}
    sampler = Sampler(root.pid)
    assert sampler.measure()["processes"] == 0
    made = root.start("/bin/sh", "-c", "echo ready; exec sleep 600")
    assert list(sampler.tree()) == [made]


def test_it_agrees_with_the_slower_way() -> None:
    if not sys.platform.startswith("linux"):
        pytest.skip("there is only the slower way on this system")
    fast, slow = sample.read(os.getpid()), sample._by_psutil()[os.getpid()]
    assert isinstance(fast, Stat)
    assert fast.parent == slow.parent
    assert abs(fast.cpu - slow.cpu) < 1
    assert 0.5 < fast.rss / slow.rss < 2
