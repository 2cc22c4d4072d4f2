"""Keeps the parts of an instance running, and leaves nothing when it ends.

A part that dies is started again, later each time; five deaths in a minute are enough.
SIGINT and SIGTERM end everything. Should this process be killed, the guard
(:mod:`dashboard.afterwards`) sees its pipe close and does the same.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import FrameType

from dashboard import afterwards, parts
from dashboard.parts import Part

DEATHS = 5
WITHIN = 60.0
LONGEST = 8.0
LOOK = 0.1


class Kept:
    """One part with its process, its deaths and when it may start again."""

    def __init__(self, part: Part) -> None:
        self.part = part
        self.process: subprocess.Popen[bytes] | None = None
        self.deaths: list[float] = []
        self.not_before = 0.0


class GaveUp(Exception):
    """A part died too often; its name and the end of its log."""


class Supervisor:
    """Starts, watches and ends the parts. `say` takes a line for the person at the terminal."""

    def __init__(self, logs: Path, env: Mapping[str, str], say: Callable[[str], None]) -> None:
        self.logs, self.env, self.say = logs, dict(env), say
        self.kept: list[Kept] = []
        self.stopping = False
        self._catch_signals()
        self._guard = subprocess.Popen(
            [sys.executable, "-I", afterwards.__file__],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )

    def _catch_signals(self) -> None:
        """Our own handlers, also where SIGINT was ignored (a shell's background job)."""

        def stop(_: int, __: FrameType | None) -> None:
            self.stopping = True

        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, stop)

    def remember(self, line: str) -> None:
        """Tell the guard what to clean up."""
        assert self._guard.stdin is not None
        self._guard.stdin.write(line.encode() + b"\n")
        self._guard.stdin.flush()

    def add(self, part: Part) -> None:
        """Start a part and keep it running."""
        kept = Kept(part)
        self.kept.append(kept)
        self._start(kept)

    def _start(self, kept: Kept) -> None:
        log = parts.open_log(self.logs, kept.part.name)
        try:
            kept.process = parts.start(kept.part, log, self.env)
        finally:
            os.close(log)
        self.remember(f"+{kept.process.pid}")

    def look(self) -> None:
        """Start again what died and has waited; GaveUp when it dies too often."""
        now = time.monotonic()
        for kept in self.kept:
            if kept.process is not None and kept.process.poll() is not None:
                self._died(kept, now)
            if kept.process is None and now >= kept.not_before and not self.stopping:
                self._start(kept)

    def _died(self, kept: Kept, now: float) -> None:
        assert kept.process is not None
        code, pid = kept.process.returncode, kept.process.pid
        afterwards.send([pid], signal.SIGKILL)  # what it left of its own group
        self.remember(f"-{pid}")
        kept.process = None
        kept.deaths = [at for at in kept.deaths if now - at < WITHIN] + [now]
        if len(kept.deaths) >= DEATHS:
            raise GaveUp(
                f"{kept.part.name} ended {DEATHS} times within a minute (last with {code}). "
                f"Its last lines:\n{parts.last_lines(self.logs, kept.part.name)}"
            )
        wait = min(0.25 * 2 ** len(kept.deaths), LONGEST)
        kept.not_before = now + wait
        self.say(f"{kept.part.name} ended with {code}; starting it again in {wait:.1f} s.")

    def wait_until(self, ready: Callable[[], bool], seconds: float = 90.0) -> bool:
        """Keep the parts running until `ready`; False when told to stop meanwhile."""
        until = time.monotonic() + seconds
        while not self.stopping:
            self.look()
            if ready():
                return True
            if time.monotonic() > until:
                raise GaveUp(f"Not everything answers after {seconds:.0f} s. {self._tails()}")
            time.sleep(LOOK)
        return False

    def _tails(self) -> str:
        names: Sequence[str] = [kept.part.name for kept in self.kept]
        return "".join(f"\n── {name}\n{parts.last_lines(self.logs, name, 5)}" for name in names)

    def run(self) -> None:
        """Watch until a signal comes."""
        while not self.stopping:
            self.look()
            time.sleep(LOOK)

    def close(self) -> None:
        """End every part, last started first, and the guard."""
        self.stopping = True
        groups = [kept.process.pid for kept in reversed(self.kept) if kept.process is not None]
        reaping = [kept.process for kept in self.kept if kept.process is not None]
        afterwards.send(groups, signal.SIGTERM)
        until = time.monotonic() + afterwards.GRACE
        while time.monotonic() < until and any(one.poll() is None for one in reaping):
            time.sleep(0.05)
        afterwards.send(groups, signal.SIGKILL)
        for process in reaping:
            process.wait()
        assert self._guard.stdin is not None
        self._guard.stdin.close()
        self._guard.wait()
