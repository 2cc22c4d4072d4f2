"""Never more runs at once on this machine than ``LIFELINE_CONCURRENCY``, whoever executes them.

The worker of `up` and every command that executes runs by itself take one of so many locks
of this host below ``var/`` (which hosts may share) for as long as a run lasts. The locks are
the kernel's: they vanish with the process that held them.
"""

from __future__ import annotations

import fcntl
import re
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

from django.conf import settings

LOOK = 0.2
"""Seconds between two looks for a free slot."""


def place() -> Path:
    """Where this host's locks lie."""
    return Path(settings.VAR) / "slots" / re.sub(r"[^0-9A-Za-z.-]", "_", socket.gethostname())


@contextmanager
def taken(wanted: Callable[[], bool]) -> Iterator[bool]:
    """Hold a slot while inside; waits for one. False: `wanted` said no while it waited."""
    folder = place()
    folder.mkdir(parents=True, exist_ok=True)
    with ExitStack() as held:
        while True:
            for number in range(max(1, settings.CONCURRENCY)):
                file = (folder / str(number)).open("a")
                try:
                    fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                except OSError:
                    file.close()
                    continue
                held.callback(file.close)
                yield True
                return
            if not wanted():
                yield False
                return
            time.sleep(LOOK)
