"""The folder of installed binaries: places, manifests, locks. No network, no drivers.

``LIFELINE_BINARIES/<agent>/<version>/`` holds an installation; its manifest is
written last, so a folder without one is unfinished and is thrown away. Beside it lie
the version's lock, its progress, its log and its marks, so that they outlive it.
All processes of all instances share the folder; the locks are the kernel's and vanish
with the process that held them.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from runs import versions
from runs.driver import Say
from runs.errors import HarnessError, UnknownName

MANIFEST = "lifeline.json"
PREPARED = "prepared"


def root() -> Path:
    """Where binaries are kept: ``LIFELINE_BINARIES``, else the user's cache."""
    given = os.environ.get("LIFELINE_BINARIES")
    return Path(given) if given else Path.home() / ".cache" / "lifeline" / "binaries"


@dataclass(frozen=True, slots=True)
class Slot:
    """The place of one version of one agent, whether it is installed or not."""

    agent: str
    version: str

    def __post_init__(self) -> None:
        if not versions.valid(self.agent) or not versions.valid(self.version):
            raise UnknownName(f"{self.agent}@{self.version} is no agent and version.")

    @property
    def shelf(self) -> Path:
        return root() / self.agent

    @property
    def folder(self) -> Path:
        return self.shelf / self.version

    @property
    def log(self) -> Path:
        """What npm or pip said while this version was installed; kept."""
        return self.beside("log")

    def beside(self, what: str) -> Path:
        """A file about this version that is not in its folder (lock, progress, log …)."""
        return self.shelf / f".{self.version}.{what}"

    def manifest(self) -> dict[str, Any]:
        """What was noted at its installation; empty when it is not (wholly) installed."""
        return read_json(self.folder / MANIFEST)

    def note(self, **facts: Any) -> None:
        """Write facts into its manifest, in one step."""
        write_json(self.folder / MANIFEST, {**self.manifest(), **facts})

    def touch(self) -> None:
        """Remember that it is used now."""
        with suppress(OSError):
            self.beside("used").touch()

    def used_at(self) -> float:
        """Epoch seconds of its last use, 0 when never."""
        with suppress(OSError):
            return self.beside("used").stat().st_mtime
        return 0.0

    @property
    def pinned(self) -> bool:
        return self.beside("pinned").exists()

    def pin(self, on: bool) -> None:
        """Keep it whatever the disk budget says, or no longer."""
        if on:
            self.shelf.mkdir(parents=True, exist_ok=True)
            self.beside("pinned").touch()
        else:
            self.beside("pinned").unlink(missing_ok=True)

    @contextmanager
    def hold(self) -> Iterator[None]:
        """While this lasts, it is in use: nothing removes it."""
        self.touch()
        with _locked(self.beside("use"), fcntl.LOCK_SH) as held:
            if held is None:
                raise HarnessError(f"{self.agent}@{self.version} is being removed.", "Try again.")
            yield
        self.touch()

    def in_use(self) -> bool:
        """Whether a run of any process holds it."""
        if not self.beside("use").exists():
            return False
        with _locked(self.beside("use"), fcntl.LOCK_EX) as free:
            return free is None

    def remove(self) -> int:
        """Delete the installation; gives the bytes freed. HarnessError while it is in use."""
        with _locked(self.beside("use"), fcntl.LOCK_EX) as free:
            if free is None:
                raise HarnessError(f"{self.agent}@{self.version} is in use.", "Wait for its runs.")
            freed = int(self.manifest().get("size", 0))
            # Without its manifest it is gone for everybody else, before the slow part begins.
            (self.folder / MANIFEST).unlink(missing_ok=True)
            clear(self.folder)
        for what in ("used", "pinned", "progress", "failed"):
            self.beside(what).unlink(missing_ok=True)
        return freed

    @contextmanager
    def sole(self, say: Say, stop: Callable[[], bool]) -> Iterator[tuple[bool, int]]:
        """Be the only one who works on this version.

        Gives whether somebody else did while we waited, and the lock's descriptor. While
        another process works, its progress is told to `say`.
        """
        self.shelf.mkdir(parents=True, exist_ok=True)
        waited, told = False, 0
        while True:
            with _locked(self.beside("lock"), fcntl.LOCK_EX) as held:
                if held is not None:
                    yield waited, held
                    return
            if stop():
                raise HarnessError(f"Waiting for {self.agent}@{self.version}: cancelled.")
            waited, told = True, self._tell(told, say)
            time.sleep(0.25)

    def _tell(self, told: int, say: Say) -> int:
        with suppress(OSError):
            lines = self.beside("progress").read_text(errors="replace").splitlines()
            for line in lines[told:]:
                say(line)
            return len(lines)
        return told


@contextmanager
def _locked(path: Path, how: int) -> Iterator[int | None]:
    """The locked file's descriptor, None where somebody else has it. Never waits."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        try:
            fcntl.flock(file, how | fcntl.LOCK_NB)
        except OSError:
            yield None
            return
        yield file.fileno()


def clear(folder: Path) -> None:
    """Delete a folder of ours, also the parts that were made read-only."""
    for at, _, _ in os.walk(folder):
        with suppress(OSError):
            os.chmod(at, 0o700)  # noqa: PTH101
    shutil.rmtree(folder, ignore_errors=True)


def slots(agent: str) -> list[Slot]:
    """Every installed version of an agent, oldest first."""
    shelf = root() / agent
    names = [path.name for path in shelf.iterdir()] if shelf.is_dir() else []
    found = [Slot(agent, name) for name in versions.ordered(filter(versions.valid, names))]
    return [slot for slot in found if slot.manifest()]


def agents() -> list[str]:
    """The agents that have anything installed."""
    place = root()
    names = sorted(path.name for path in place.iterdir()) if place.is_dir() else []
    return [name for name in names if versions.valid(name) and slots(name)]


def read_json(path: Path) -> dict[str, Any]:
    """A JSON object of ours; empty when it is missing or damaged."""
    try:
        found = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write it in one step: a reader sees the old text or the new one."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f".{path.name}.{os.getpid()}.{time.monotonic_ns()}")
    fresh.write_text(json.dumps(value, indent=1) + "\n")
    fresh.replace(path)


def sha256(path: Path) -> str:
    """The file's SHA-256 in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def stamp(path: Path) -> list[int]:
    """What changes when the file does: its size and time."""
    facts = path.stat()
    return [facts.st_size, facts.st_mtime_ns]
