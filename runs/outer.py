"""The process that we start for a run: bubblewrap with the minder in it, or the minder alone."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Any, Final

import psutil

from runs import bubblewrap, pythons
from runs.errors import HarnessError
from runs.seal import Seal, folders_of
from runs.workspace import Workspace

MINDER: Final = Path(__file__).resolve().parent / "minder"
_PYTHON: Final = pythons.ours()
_BOOT: Final = (
    "import json, sys; sys.path.append(sys.argv[1]); from minder.main import main; "
    "main(int(sys.argv[2]), json.loads(sys.argv[3]))"
)
_PATIENCE: Final = 8.0
"""Seconds until a process that should be gone by itself is killed."""


class Outer:
    """Started by the constructor; `control` is our end of the minder's socket."""

    def __init__(
        self, workspace: Workspace, seal: Seal, shown: Sequence[Path], want_listener: bool
    ) -> None:
        bubblewrap.write_seal_files(workspace)
        self._last = ""
        self.minder = 0
        """The minder's pid as this machine sees it, once it was found."""
        self.control, theirs = socket.socketpair()
        self._errors = tempfile.TemporaryFile()  # noqa: SIM115 (closed in `gone`)
        try:
            with theirs, tempfile.TemporaryFile() as options:
                self._process = subprocess.Popen(
                    _command(workspace, seal, shown, theirs.fileno(), options, want_listener),
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=self._errors,
                    env={"LANG": "C.UTF-8"},
                    cwd="/",
                    pass_fds=[theirs.fileno(), options.fileno()],
                    start_new_session=True,
                )
        except BaseException as error:
            self.control.close()
            self._errors.close()
            if isinstance(error, OSError):
                raise HarnessError(f"The seal cannot be raised: {error}.") from error
            raise
        self.pid = self._process.pid

    def find(self, inside: int) -> int:
        """The agent's pid as this machine sees it (0: gone), and learn the minder's."""
        for process in _below(self.pid):
            if _pid_inside(process.pid) == inside and process.pid != self.pid:
                try:
                    self.minder = process.ppid()
                except psutil.Error:
                    return 0
                return process.pid
        return 0

    def said(self) -> str:
        """The last lines of what it wrote to standard error."""
        if self._errors.closed:
            return self._last
        self._errors.seek(0, 2)
        self._errors.seek(max(self._errors.tell() - 2000, 0))
        text = self._errors.read().decode(errors="replace").strip()
        self._last = " · ".join(text.splitlines()[-3:])
        return self._last

    def kill(self) -> None:
        """End it at once; a process namespace goes with it."""
        self._process.kill()

    async def gone(self) -> None:
        """Until it is gone and collected; it is killed when that takes too long."""
        deadline, pause = time.monotonic() + _PATIENCE, 0.002
        survivors: list[psutil.Process] = []
        while self._process.poll() is None:
            if time.monotonic() > deadline and not survivors:
                survivors = _below(self.pid)
                self.kill()
            await asyncio.sleep(pause)
            pause = min(pause * 1.5, 0.05)
        for process in survivors:
            try:
                process.kill()
            except psutil.Error:
                pass
        self.said()
        self._errors.close()


def _command(
    workspace: Workspace,
    seal: Seal,
    shown: Sequence[Path],
    control: int,
    options: IO[bytes],
    listener: bool,
) -> list[str]:
    """What to execute; bubblewrap's options are written to the open file `options`."""
    settings: dict[str, Any] = {
        "network": seal.network,
        "listener": listener,
        "own_user": seal.own_user,
        "own_processes": seal.processes,
    }
    if seal.by == "bwrap" and seal.bwrap is not None:
        readonly = [*folders_of(_PYTHON), *shown]
        given = bubblewrap.options_of(workspace, MINDER, readonly)
        options.write(b"".join(option.encode() + b"\0" for option in given))
        options.seek(0)
        front = [str(seal.bwrap), "--args", str(options.fileno()), "--"]
        folder = bubblewrap.MINDER_INSIDE.parent
    else:
        front, folder = [], MINDER.parent
        settings["own"] = list(seal.own)
        settings["lay_over"] = {
            f"/etc/{name}": str(workspace.seal_files / name) for name in ("hosts", "resolv.conf")
        }
    minder = [str(_PYTHON), "-I", "-S", "-B", "-c", _BOOT]
    return [*front, *minder, str(folder), str(control), json.dumps(settings)]


def _below(pid: int) -> list[psutil.Process]:
    try:
        return psutil.Process(pid).children(recursive=True)
    except psutil.Error:
        return []


def _pid_inside(pid: int) -> int:
    """A process's pid in its own innermost namespace."""
    try:
        for line in Path(f"/proc/{pid}/status").read_text().splitlines():
            if line.startswith("NSpid:"):
                return int(line.split()[-1])
    except (OSError, ValueError):
        pass
    return pid
