"""The folder of one run: what the agent may write, what we keep, and how both see it.

``var/runs/<permalink>/`` holds ``home``, ``work``, ``temp`` and ``logs`` (the
agent's: nothing in them is trusted, and no link that it made is followed) and
``sources`` and ``bodies`` (ours: the agent cannot see them). In a sealed file
view the agent's four are ``/w/home`` and so on.
"""

from __future__ import annotations

import fnmatch
import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from runs.copying import copy_tree
from runs.errors import HarnessError

INSIDE: Final = Path("/w")
AGENTS: Final = ("home", "work", "temp", "logs")
OURS: Final = ("sources", "bodies")
KEPT: Final = ("sources", "bodies", "logs")
MIB: Final = 1024 * 1024
SYSTEM_PATH: Final = "/usr/local/bin:/usr/bin:/bin:/usr/local/sbin:/usr/sbin:/sbin"


@dataclass(frozen=True, slots=True)
class Paths:
    """The agent's four folders, as it sees them."""

    home: Path
    work: Path
    temp: Path
    logs: Path


class Workspace:
    """One run's folder, made fresh and private to us by the constructor."""

    def __init__(self, root: Path, *, sealed: bool) -> None:
        """`sealed`: whether the agent's file view is. HarnessError when a run was here before."""
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        self.root = root.resolve()
        self.sealed = sealed
        self.seal_files = self.root / "seal"
        """The seal's own small files (hosts, passwd …), shown to the agent read-only."""
        for name in (*OURS, "seal"):
            (self.root / name).mkdir(mode=0o700, exist_ok=True)
        for name in AGENTS:
            try:
                (self.root / name).mkdir(mode=0o700)
            except FileExistsError as error:
                raise HarnessError(f"The run's folder {root} was used before.") from error

    @property
    def home(self) -> Path:
        """The agent's HOME, as we see it."""
        return self.root / "home"

    @property
    def work(self) -> Path:
        """Its working directory."""
        return self.root / "work"

    @property
    def temp(self) -> Path:
        """Its TMPDIR."""
        return self.root / "temp"

    @property
    def logs(self) -> Path:
        """Where a driver sends the agent's logs."""
        return self.root / "logs"

    @property
    def sources(self) -> Path:
        """The raw evidence, by short name; out of the agent's sight."""
        return self.root / "sources"

    @property
    def bodies(self) -> Path:
        """The provider's bodies; out of the agent's sight."""
        return self.root / "bodies"

    def paths_inside(self, sealed: bool | None = None) -> Paths:
        """The four as the agent sees them."""
        base = INSIDE if (self.sealed if sealed is None else sealed) else self.root
        return Paths(*(base / name for name in AGENTS))

    @property
    def inside(self) -> Paths:
        """The four as the agent of this run sees them."""
        return self.paths_inside()

    def outside(self, path: Path) -> Path:
        """Our path of one that the agent sees; HarnessError unless it is in its four folders."""
        base = INSIDE if self.sealed else self.root
        clean = PurePosixPath(os.path.normpath(path))
        try:
            relative = clean.relative_to(base)
        except ValueError:
            relative = PurePosixPath()
        if not relative.parts or relative.parts[0] not in AGENTS:
            raise HarnessError(f"{path} is outside of what the agent may write.")
        return self.root / relative

    def write(self, files: Mapping[Path, str]) -> None:
        """Write the agent's configuration, by path as the agent sees it (before the start)."""
        for path, text in files.items():
            target = self.outside(path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")
            target.chmod(0o700 if text.startswith("#!") else 0o600)

    def lay(self, views: Mapping[Path, Path]) -> None:
        """Give the run its own writable copy of each prepared folder (before the start)."""
        for path, prepared in views.items():
            copy_tree(prepared, self.outside(path))

    def environment(self, env: Mapping[str, str], path: Sequence[Path] = ()) -> dict[str, str]:
        """The agent's whole environment: ours, then the driver's `env`; nothing is inherited.

        `path`: folders that come first on PATH (a Node of its own, a venv).
        """
        inside = self.inside
        return {
            "PATH": ":".join([*(str(folder) for folder in path), SYSTEM_PATH]),
            "HOME": str(inside.home),
            "USER": "agent",
            "LOGNAME": "agent",
            "SHELL": "/bin/sh",
            "LANG": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "dumb",
            "TMPDIR": str(inside.temp),
            "XDG_CONFIG_HOME": str(inside.home / ".config"),
            "XDG_CACHE_HOME": str(inside.home / ".cache"),
            "XDG_DATA_HOME": str(inside.home / ".local/share"),
            "XDG_STATE_HOME": str(inside.home / ".local/state"),
            "XDG_RUNTIME_DIR": str(inside.temp),
            **env,
        }

    def glob(self, pattern: str) -> list[Path]:
        """Regular files below `root` that match (relative to it), by way of no link."""
        parts = PurePosixPath(pattern).parts
        if ".." in parts or pattern.startswith("/"):
            raise HarnessError(f"The pattern {pattern!r} leaves the run's folder.")
        return sorted(_matching(self.root, parts))

    @contextmanager
    def reading(self, path: Path) -> Iterator[int]:
        """A descriptor to read an agent's file (absolute, below `root`), by way of no link.

        OSError where a part is a link or it is no regular file: never blocks on a pipe.
        """
        descriptor = open_beneath(self.root, path.relative_to(self.root))
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    def cut_down(self, keep: Sequence[str] = KEPT, *, file_mib: float = 64) -> int:
        """Remove everything but the folders in `keep`; gives the bytes that remain.

        Call it when nothing of the agent runs any more. In what the agent wrote
        (logs), links and special files go, and files are cut at `file_mib`.
        """
        for entry in list(os.scandir(self.root)):
            if entry.name not in keep or entry.is_symlink():
                remove(Path(entry.path))
        for name in set(keep) & set(AGENTS):
            _tame(self.root / name, int(file_mib * MIB))
        return sum(file.lstat().st_size for file in self.root.rglob("*") if file.is_file())

    def delete(self) -> None:
        """Remove the run's folder, whatever the agent made of it."""
        remove(self.root)


def open_beneath(root: Path, relative: Path) -> int:
    """Open a regular file below `root` for reading, refusing a link in any part of the way."""
    parts = relative.parts
    if not parts or ".." in parts or relative.is_absolute():
        raise OSError(f"{relative} is no path below the folder")
    folder = os.open(root, os.O_RDONLY | os.O_DIRECTORY)
    try:
        for part in parts[:-1]:
            inner = os.open(part, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=folder)
            os.close(folder)
            folder = inner
        descriptor = os.open(parts[-1], os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=folder)
    finally:
        os.close(folder)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{relative} is no regular file")
    return descriptor


def _matching(folder: Path, parts: Sequence[str]) -> Iterator[Path]:
    """Files in `folder` that match the rest of a pattern; ``**`` is any number of folders."""
    first, rest = parts[0], parts[1:]
    if first == "**" and rest:
        yield from _matching(folder, rest)
    try:
        entries = list(os.scandir(folder))
    except OSError:
        return
    for entry in entries:
        is_folder = entry.is_dir(follow_symlinks=False)
        if first == "**":
            if is_folder:
                yield from _matching(Path(entry.path), parts)
        elif fnmatch.fnmatchcase(entry.name, first):
            if rest and is_folder:
                yield from _matching(Path(entry.path), rest)
            elif not rest and entry.is_file(follow_symlinks=False):
                yield Path(entry.path)


def remove(path: Path) -> None:
    """Remove a file or a folder with all in it, also folders that were made unreadable."""
    try:
        is_folder = stat.S_ISDIR(path.lstat().st_mode)
    except FileNotFoundError:
        return
    if not is_folder:
        path.unlink(missing_ok=True)
        return
    try:
        shutil.rmtree(path)
    except OSError:
        for folder, _, _ in os.walk(path, topdown=True):
            os.chmod(folder, 0o700)  # noqa: PTH101 (os.walk does not go through links)
            for entry in os.scandir(folder):
                if entry.is_dir(follow_symlinks=False):
                    Path(entry.path).chmod(0o700)
        shutil.rmtree(path)


def _tame(folder: Path, limit: int) -> None:
    """Leave only plain files of at most `limit` bytes in a folder that the agent wrote."""
    for base, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(base, name)
            mode = path.lstat().st_mode
            if stat.S_ISDIR(mode):
                path.chmod(0o700)
            elif not stat.S_ISREG(mode):
                path.unlink()
            else:
                path.chmod(0o600)
                if path.lstat().st_nlink > 1:
                    path.unlink()
                elif path.lstat().st_size > limit:
                    os.truncate(path, limit)
