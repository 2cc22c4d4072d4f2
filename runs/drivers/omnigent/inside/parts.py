"""The agent's processes, and what is printed of them and of this client."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

_lock = threading.RLock()


def say(kind: str, **more: Any) -> None:
    """One line of this client's own."""
    write({"t": time.time(), "kind": f"client/{kind}", **more})


def write(line: dict[str, Any]) -> None:
    """One line of standard output."""
    with _lock:
        sys.stdout.write(json.dumps(line) + "\n")
        sys.stdout.flush()


class Away(Exception):
    """A part did not start, or does not answer (any more)."""


class Part:
    """A process of the agent's: the server, or the runner with its harnesses."""

    def __init__(self, name: str, argv: list[str], env: dict[str, str], logs: Path) -> None:
        self.name, self.argv, self.env = name, argv, env
        self.log = (logs / f"{name}.log").open("ab")
        self.process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        """Begin, as the leader of a group of its own."""
        self.process = subprocess.Popen(
            self.argv,
            env={**os.environ, **self.env},
            stdin=subprocess.DEVNULL,
            stdout=self.log,
            stderr=self.log,
            start_new_session=True,
        )
        self.tell("started")

    def tell(self, status: str, **more: Any) -> None:
        """Say what became of it."""
        pid = self.process.pid if self.process else 0
        say("part", part=self.name, status=status, pid=pid, **more)

    def gone(self) -> bool:
        """Whether it has ended."""
        return self.process is None or self.process.poll() is not None

    def kill(self) -> None:
        """SIGKILL, as a crash: what it has started is left alone."""
        assert self.process is not None
        self.process.kill()
        self.process.wait()
        self.tell("killed", signal=int(signal.SIGKILL))

    def stop(self) -> None:
        """End it at once: what it had to say has been heard."""
        if self.process is not None and self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.tell("stopped")
        elif self.process is not None and self.process.returncode != -signal.SIGKILL:
            self.tell("ended", code=self.process.returncode)


def free_port() -> int:
    """A port of loopback that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])
