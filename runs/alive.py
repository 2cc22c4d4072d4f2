"""Whether a run of this machine still has the process that executes it.

A heartbeat says when somebody last wrote to the database, and that by the wall clock: a
machine that slept, a clock that was set or a database that was busy make it old. The process
therefore also holds a lock of the kernel's for as long as it has the run in hand.
"""

from __future__ import annotations

import contextlib
import fcntl
from collections.abc import Iterator
from pathlib import Path

from runs import slots


def _place(run_id: int) -> Path:
    return slots.place() / f"run-{run_id}"


@contextlib.contextmanager
def held(run_id: int) -> Iterator[None]:
    """Have the run in hand while inside. Where no lock can be made, the heartbeat is all."""
    with contextlib.ExitStack() as stack:
        with contextlib.suppress(OSError):
            path = _place(run_id)
            path.parent.mkdir(parents=True, exist_ok=True)
            file = stack.enter_context(path.open("a"))
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            stack.callback(path.unlink, missing_ok=True)  # only who has it takes it away
        yield


def is_held(run_id: int) -> bool:
    """Whether a process of this machine has the run in hand."""
    try:
        with _place(run_id).open("rb") as file:
            fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    return False
