"""What was attached, as a flat list of files: folders walked, archives unpacked, limits kept.

Nothing here trusts a name or a size that an archive states. Links are never
followed; what is left out is listed with the reason.
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
import shutil
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, cast

import zstandard

from runs.errors import HarnessError

MIB = 1 << 20


class Unreadable(HarnessError):
    """What was attached cannot be read; says which file, and what to do."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Against hostile files. Sizes in bytes."""

    file: int = 4096 * MIB
    total: int = 8192 * MIB
    files: int = 5000
    unpacked: int = 2048 * MIB
    ratio: int = 200
    """How many times larger an archive may become, beyond the first 16 MiB."""
    depth: int = 24
    """Folders inside of folders."""
    line: int = 32 * MIB


@dataclass(frozen=True, slots=True)
class Attached:
    """One file to read: its short name (as in evidence) and where it is."""

    name: str
    path: Path
    size: int


@dataclass(slots=True)
class Intake:
    """All files to read, and what was left out with the reason."""

    files: list[Attached] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)


def gather(paths: list[Path], into: Path, limits: Limits) -> Intake:
    """The files under `paths`; archives are unpacked below `into` (an empty folder of ours).

    Raises :class:`Unreadable` for a path that is not there and for what goes over a limit.
    """
    intake = Intake()
    for number, path in enumerate(paths):
        if path.is_symlink() or not path.exists():
            raise Unreadable(
                f"{path} is not a file or folder.", "Give a log, a folder or an archive."
            )
        if path.is_dir():
            _walk(path, path, intake, limits, 0)
        elif not stat.S_ISREG(path.stat().st_mode):
            raise Unreadable(f"{path} is not a regular file.", "Copy its content to a file.")
        else:
            _one(path, path.name, into / str(number), intake, limits)
    _distinct(intake)
    if sum(file.size for file in intake.files) > limits.total:
        raise Unreadable(
            f"All files together are over {limits.total // MIB} MiB.", "Attach the logs alone."
        )
    return intake


def _walk(top: Path, folder: Path, intake: Intake, limits: Limits, depth: int) -> None:
    if depth > limits.depth:
        raise Unreadable(
            f"{folder} lies over {limits.depth} folders deep.", "Attach the logs alone."
        )
    for entry in sorted(os.scandir(folder), key=lambda one: one.name):
        path = Path(entry.path)
        name = path.relative_to(top).as_posix()
        if entry.is_symlink():
            intake.left_out.append((name, "a link"))
        elif entry.is_dir(follow_symlinks=False):
            _walk(top, path, intake, limits, depth + 1)
        elif entry.is_file(follow_symlinks=False):
            _add(intake, Attached(name, path, entry.stat(follow_symlinks=False).st_size), limits)


def _add(intake: Intake, file: Attached, limits: Limits) -> None:
    if file.size > limits.file:
        raise Unreadable(
            f"{file.name} has {file.size // MIB} MiB; the limit is {limits.file // MIB}.",
            "Cut it to the part that matters.",
        )
    intake.files.append(file)
    if len(intake.files) > limits.files:
        raise Unreadable(f"More than {limits.files} files.", "Attach the logs alone.")


def _one(path: Path, name: str, into: Path, intake: Intake, limits: Limits) -> None:
    """A single file: an archive is unpacked, anything else is read as it is."""
    with path.open("rb") as file:
        head = file.read(512)
    size = path.stat().st_size
    allowed = min(limits.unpacked, max(16 * MIB, size * limits.ratio))
    budget = Budget(name, allowed, limits)
    try:
        if head.startswith(b"PK\x03\x04") or head.startswith(b"PK\x05\x06"):
            _unzip(path, into, budget)
        elif _is_tar(path):
            with tarfile.open(path, "r:*") as archive:
                _untar(archive, into, budget)
        elif head.startswith((b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ")):
            _expand(path, name, head, into, budget)
        else:
            _add(intake, Attached(name, path, size), limits)
            return
    except (
        zipfile.BadZipFile,
        tarfile.TarError,
        OSError,
        EOFError,
        zlib.error,
        zstandard.ZstdError,
        lzma.LZMAError,
        NotImplementedError,
        RuntimeError,
    ) as bad:
        if isinstance(bad, OSError) and not isinstance(bad, gzip.BadGzipFile) and bad.errno:
            raise
        raise Unreadable(
            f"{name} is a damaged archive ({bad}).", "Attach the files themselves."
        ) from bad
    intake.left_out.extend(budget.left_out)
    _walk(into, into, intake, limits, 0)


def _is_tar(path: Path) -> bool:
    try:
        return tarfile.is_tarfile(path)
    except (OSError, EOFError, zlib.error, lzma.LZMAError):
        return False


@dataclass(slots=True)
class Budget:
    """What an archive may still become."""

    name: str
    allowed: int
    limits: Limits
    files: int = 0
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def place(self, into: Path, name: str) -> Path:
        """Where a member goes; a name that leaves the folder is an error."""
        pure = PurePosixPath(name.replace("\\", "/"))
        parts = pure.parts
        if pure.is_absolute() or ".." in parts or not parts or ":" in parts[0] or "\0" in name:
            raise Unreadable(f"{self.name} holds a file outside of its folder ({name!r}).",
                             "It is not safe to unpack; attach the files themselves.")  # fmt: skip
        self.files += 1
        if self.files > self.limits.files or len(parts) > self.limits.depth:
            raise Unreadable(
                f"{self.name} holds too many files or folders.", "Attach the logs alone."
            )
        target = into.joinpath(*parts)
        target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def copy(self, source: IO[bytes], target: Path) -> None:
        """Unpack one member, counting what really comes out."""
        with target.open("wb") as out:
            for piece in _pieces(source):
                self.allowed -= len(piece)
                if self.allowed < 0:
                    raise Unreadable(f"{self.name} expands to more than is allowed.",
                                     "Unpack it yourself and attach the logs alone.")  # fmt: skip
                out.write(piece)


def _pieces(source: IO[bytes]) -> Iterator[bytes]:
    while piece := source.read(MIB):
        yield piece


def _unzip(path: Path, into: Path, budget: Budget) -> None:
    into.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path) as archive:
        for member in archive.infolist():
            if member.is_dir():
                continue
            if stat.S_ISLNK(member.external_attr >> 16):
                budget.left_out.append((member.filename, "a link"))
                continue
            if member.flag_bits & 1:
                budget.left_out.append((member.filename, "encrypted"))
                continue
            target = budget.place(into, member.filename)
            with archive.open(member) as source:
                budget.copy(source, target)


def _untar(archive: tarfile.TarFile, into: Path, budget: Budget) -> None:
    into.mkdir(parents=True, exist_ok=True)
    for member in archive:
        if member.isdir():
            continue
        if not member.isreg():
            budget.left_out.append(
                (member.name, "a link" if member.issym() or member.islnk() else "no file")
            )
            continue
        target = budget.place(into, member.name)
        source = archive.extractfile(member)
        if source is not None:
            budget.copy(source, target)


def _expand(path: Path, name: str, head: bytes, into: Path, budget: Budget) -> None:
    """One compressed file, which may be a tar (of zstandard) inside."""
    into.mkdir(parents=True, exist_ok=True)
    inner = name.rsplit(".", 1)[0] if "." in name.strip(".") else name + ".log"
    target = budget.place(into, PurePosixPath(inner).name)
    with path.open("rb") as file, _opened(file, head) as source:
        budget.copy(source, target)
    if _is_tar(target):
        unpacked = target.with_name("unpacked.tar")
        shutil.move(target, unpacked)
        with tarfile.open(unpacked, "r:") as archive:
            _untar(archive, into, budget)
        unpacked.unlink()


def _opened(file: IO[bytes], head: bytes) -> IO[bytes]:
    if head.startswith(b"\x1f\x8b"):
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    if head.startswith(b"\xfd7zXZ"):
        return lzma.LZMAFile(file)
    return io.BufferedReader(
        zstandard.ZstdDecompressor(max_window_size=128 * MIB).stream_reader(file)
    )


def _distinct(intake: Intake) -> None:
    """Two files of one name (from two folders) get their order in front of it."""
    seen: dict[str, int] = {}
    for place, file in enumerate(intake.files):
        count = seen.get(file.name, 0)
        seen[file.name] = count + 1
        if count:
            intake.files[place] = Attached(f"{count + 1}/{file.name}", file.path, file.size)
