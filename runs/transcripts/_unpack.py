"""Archives and compressed files, unpacked within limits.

Nothing here trusts a name or a size that an archive states.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
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

from runs.transcripts._limits import MIB, Limits, Unreadable

ZIP, GZ, ZST, XZ, BZ = b"PK\x03\x04", b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ", b"BZh"
EMPTY_ZIP = b"PK\x05\x06"
_TROUBLE = (
    zipfile.BadZipFile,
    tarfile.TarError,
    OSError,
    EOFError,
    zlib.error,
    zstandard.ZstdError,
    lzma.LZMAError,
    NotImplementedError,
    RuntimeError,
)


class Damaged(Unreadable):
    """An archive that cannot be unpacked."""


def is_packed(path: Path) -> bool:
    """Whether it is an archive or a compressed file."""
    with path.open("rb") as file:
        head = file.read(8)
    return head.startswith((ZIP, EMPTY_ZIP, GZ, ZST, XZ, BZ)) or is_tar(path)


def unpack(path: Path, name: str, into: Path, limits: Limits, used: Used) -> list[tuple[str, str]]:
    """Unpack a file below `into`; gives what was left out with the reason.

    Raises :class:`Damaged`, and Unreadable for what is hostile or goes over a limit.
    """
    with path.open("rb") as file:
        head = file.read(8)
    allowed = min(limits.unpacked, max(16 * MIB, path.stat().st_size * limits.ratio))
    budget = Budget(name, allowed, limits, used)
    try:
        if head.startswith((ZIP, EMPTY_ZIP)):
            _unzip(path, into, budget)
        elif is_tar(path):
            with tarfile.open(path, "r:*") as archive:
                _untar(archive, into, budget)
        else:
            _expand(path, name, head, into, budget)
    except _TROUBLE as bad:
        if isinstance(bad, OSError) and not isinstance(bad, gzip.BadGzipFile) and bad.errno:
            raise
        raise Damaged(
            f"{name} is a damaged archive ({bad}).", "Attach the files themselves."
        ) from bad
    return budget.left_out


def is_tar(path: Path) -> bool:
    """Whether it is a tar with something in it, compressed or not; a file of zeros is none."""
    try:
        with tarfile.open(path, "r:*") as archive:
            return archive.next() is not None
    except (tarfile.TarError, OSError, EOFError, zlib.error, lzma.LZMAError):
        return False


@dataclass(slots=True)
class Used:
    """What all archives of a case have become together."""

    bytes: int = 0


@dataclass(slots=True)
class Budget:
    """What an archive may still become."""

    name: str
    allowed: int
    limits: Limits
    used: Used
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
        if target.exists():
            target = into.joinpath(f"{self.files}", *parts)  # two members of one name: both stay
        target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def copy(self, source: IO[bytes], target: Path) -> None:
        """Unpack one member, counting what really comes out."""
        with target.open("wb") as out:
            for piece in _pieces(source):
                self.allowed -= len(piece)
                self.used.bytes += len(piece)
                if self.allowed < 0 or self.used.bytes > self.limits.unpacked:
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
    if is_tar(target):
        unpacked = target.with_name("unpacked.tar")
        shutil.move(target, unpacked)
        with tarfile.open(unpacked, "r:") as archive:
            _untar(archive, into, budget)
        unpacked.unlink()


def _opened(file: IO[bytes], head: bytes) -> IO[bytes]:
    if head.startswith(GZ):
        return cast(IO[bytes], gzip.GzipFile(fileobj=file))
    if head.startswith(XZ):
        return lzma.LZMAFile(file)
    if head.startswith(BZ):
        return bz2.BZ2File(file)
    return io.BufferedReader(
        zstandard.ZstdDecompressor(max_window_size=128 * MIB).stream_reader(file)
    )
