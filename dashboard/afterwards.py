"""The guard of `up`: waits until the supervisor is gone, however it ended, and cleans up.

Started as ``python -I afterwards.py`` with a pipe as standard input. Each line is the
process group of a part (``+123``, ``-123`` when it ended) or a folder to remove
(``/tmp/…``). The pipe closes when the supervisor ends, by SIGKILL as well.
"""

from __future__ import annotations

import os
import shutil
import signal
import sys
import time

GRACE = 4.0


def main() -> None:
    """Read until the pipe closes, then leave nothing."""
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_IGN)
    groups: list[int] = []
    folders: list[str] = []
    for line in sys.stdin:
        word = line.strip()
        if word.startswith("+"):
            groups.append(int(word[1:]))
        elif word.startswith("-"):
            groups.remove(int(word[1:]))
        elif word.startswith("/"):
            folders.append(word)
    end(groups)
    for folder in folders:
        shutil.rmtree(folder, ignore_errors=True)


def end(groups: list[int]) -> None:
    """TERM to every group, KILL to what is left after the grace."""
    send(groups, signal.SIGTERM)
    until = time.monotonic() + GRACE
    while time.monotonic() < until and any(alive(group) for group in groups):
        time.sleep(0.05)
    send(groups, signal.SIGKILL)


def send(groups: list[int], number: signal.Signals) -> None:
    """A signal to every group that still is there."""
    for group in groups:
        try:
            os.killpg(group, number)
        except (ProcessLookupError, PermissionError):
            pass


def alive(group: int) -> bool:
    """Whether the group has a process that is no zombie of ours."""
    try:
        os.killpg(group, 0)
    except (ProcessLookupError, PermissionError):
        return False
    return True


if __name__ == "__main__":
    main()
