"""Archives and compressed files, unpacked within limits.

Nothing here trusts a name or a size that an archive states.
"""

from __future__ import annotations

import os
import shutil
import stat
import tarfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import IO, cast

from runs.transcripts._limits import MIB, Limits, Unreadable
from runs.transcripts._salvage import (
    BZ,
    GZ,
    TROUBLE,
    XZ,
    ZST,
    Broken,
    is_ours,
    opened,
    pieces,
    zstd_is_whole,
)
from runs.transcripts._zip_entries import entries

ZIP, EMPTY_ZIP = b"PK\x03\x04", b"PK\x05\x06"
DAMAGED = "damaged:"
LONGEST = 200
"""Bytes of one part of a member's name; file systems take little more."""
HEADER = MIB
"""Bytes of a tar's header that holds a name or attributes: it is read into memory whole."""
MEMBERS = 10
"""Members of all kinds, folders and links too, for each file that is allowed."""
_ALONE = "Unpack it yourself and attach the logs alone."
REST = "the archive breaks off: what follows is lost"
NO_TABLE = "its table of contents is damaged: its files were read without it"


def is_lost(reason: str) -> bool:
    """Whether what was left out for that reason is lost, and may have held what now lacks."""
    return reason == REST or reason.startswith(DAMAGED)


class Damaged(Unreadable):
    """An archive that cannot be unpacked."""


def is_packed(path: Path) -> bool:
    """Whether it is an archive or a compressed file."""
    with path.open("rb") as file:
        head = file.read(8)
    return head.startswith((ZIP, EMPTY_ZIP, GZ, ZST, XZ, BZ)) or is_tar(path)


def unpack(path: Path, name: str, into: Path, limits: Limits, used: Used) -> list[tuple[str, str]]:
    """Unpack a file below `into`; gives what was left out with the reason.

    Of what is broken all that still comes out is kept, and `used` says which files are cut.
    Raises :class:`Damaged` where nothing does, and Unreadable for what is hostile or goes over
    a limit.
    """
    with path.open("rb") as file:
        head = file.read(8)
    allowed = min(limits.unpacked, max(16 * MIB, path.stat().st_size * limits.ratio))
    budget = Budget(name, allowed, limits, used)
    try:
        if head.startswith((ZIP, EMPTY_ZIP)):
            _unzip(path, into, budget)
        elif head.startswith((GZ, ZST, XZ, BZ)):
            _expand(path, name, head, into, budget)
        else:
            with tarfile.open(path, "r:", tarinfo=_Member) as archive:
                _untar(archive, into, budget)
    except (Broken, *TROUBLE) as bad:
        if is_ours(bad):
            raise
        raise Damaged(
            f"{name} is a damaged archive ({bad}).", "Attach the files themselves."
        ) from bad
    return budget.left_out


def is_tar(path: Path) -> bool:
    """Whether it is a tar with something in it, compressed or not; a file of zeros is none."""
    try:
        with tarfile.open(path, "r:*", tarinfo=_Member) as archive:
            return archive.next() is not None
    except TROUBLE:
        return False


class _Member(tarfile.TarInfo):
    """One member, whose header may not be a bomb."""

    def _proc_member(self, tar: tarfile.TarFile) -> tarfile.TarInfo:
        if self.type in _NAMING and self.size > HEADER:
            raise tarfile.ReadError("a header in it is too large")
        made: tarfile.TarInfo = super()._proc_member(tar)  # type: ignore[misc]
        return made


_NAMING = (
    *(tarfile.XHDTYPE, tarfile.XGLTYPE, tarfile.SOLARIS_XHDTYPE),
    *(tarfile.GNUTYPE_LONGNAME, tarfile.GNUTYPE_LONGLINK),
)
"""What comes before a member and says its name."""


@dataclass(slots=True)
class Used:
    """What all archives of a case have become together."""

    bytes: int = 0
    cut: dict[Path, str] = field(default_factory=dict)
    """Files that are here in part, with why."""


@dataclass(slots=True)
class Budget:
    """What an archive may still become."""

    name: str
    allowed: int
    limits: Limits
    used: Used
    files: int = 0
    members: int = 0
    left_out: list[tuple[str, str]] = field(default_factory=list)

    def counts(self, name: str) -> bool:
        """Whether this member can be laid down; one that cannot by its name is left out."""
        self.members += 1
        if self.members > self.limits.files * MEMBERS:
            raise self.too_many()
        if max(len(os.fsencode(part)) for part in name.split("/")) <= LONGEST:
            return True
        self.left_out.append((name[:80] + " …", "its name is too long"))
        return False

    def too_many(self) -> Unreadable:
        """There are more members than the limit."""
        return Unreadable(f"{self.name} holds too many files or folders.", "Attach the logs alone.")

    def place(self, into: Path, name: str) -> Path:
        """Where a member goes; a name that leaves the folder is an error."""
        pure = PurePosixPath(name.replace("\\", "/"))
        parts = pure.parts
        if pure.is_absolute() or ".." in parts or not parts or ":" in parts[0] or "\0" in name:
            raise Unreadable(f"{self.name} holds a file outside of its folder ({name!r}).",
                             "It is not safe to unpack; attach the files themselves.")  # fmt: skip
        self.files += 1
        if self.files > self.limits.files or len(parts) > self.limits.depth:
            raise self.too_many()
        target = into.joinpath(*parts)
        above = (into.joinpath(*parts[:end]) for end in range(1, len(parts)))
        if target.exists() or any(one.is_file() for one in above):
            target = into.joinpath(f"{self.files}", *parts)  # two members of one name: both stay
        target.parent.mkdir(parents=True, exist_ok=True)
        return target

    def give_back(self, size: int) -> None:
        """What came out does not stay as it is: it counts no more."""
        self.allowed += size
        self.used.bytes -= size

    def copy(self, source: IO[bytes], target: Path) -> None:
        """Unpack one member, counting what really comes out; what is broken, as far as it goes."""
        with target.open("wb") as out:
            try:
                for piece in pieces(source):
                    self.allowed -= len(piece)
                    self.used.bytes += len(piece)
                    if self.allowed < 0 or self.used.bytes > self.limits.unpacked:
                        raise Unreadable(f"{self.name} expands to more than is allowed.", _ALONE)
                    out.write(piece)
            except Broken as broken:
                if out.tell() == 0:
                    target.unlink()
                    raise
                self.used.cut[target] = str(broken)


def _unzip(path: Path, into: Path, budget: Budget) -> None:
    into.mkdir(parents=True, exist_ok=True)
    try:
        archive = zipfile.ZipFile(path)
    except zipfile.BadZipFile:
        _without_table(path, into, budget)
        if not budget.files:
            raise
        return
    with archive:
        for member in archive.infolist():
            if not budget.counts(member.filename) or member.is_dir():
                continue
            if stat.S_ISLNK(member.external_attr >> 16):
                budget.left_out.append((member.filename, "a link"))
                continue
            if member.flag_bits & 1:
                budget.left_out.append((member.filename, "encrypted"))
                continue
            with _damage_of(member.filename, budget), archive.open(member) as source:
                budget.copy(source, budget.place(into, member.filename))


def _without_table(path: Path, into: Path, budget: Budget) -> None:
    """The entries one after another, as far as they go."""
    try:
        with path.open("rb") as file:
            for entry in entries(file):
                if not budget.counts(entry.name) or entry.name.endswith("/"):
                    continue
                if entry.encrypted:
                    budget.left_out.append((entry.name, "encrypted"))
                    continue
                with _damage_of(entry.name, budget):
                    budget.copy(cast(IO[bytes], entry), budget.place(into, entry.name))
    except (Broken, *TROUBLE) as bad:
        if is_ours(bad):
            raise
        budget.left_out.append((budget.name, REST))
    else:
        budget.left_out.append((budget.name, NO_TABLE))


@contextmanager
def _damage_of(name: str, budget: Budget) -> Iterator[None]:
    """A member of which nothing comes out is left out, as damaged."""
    try:
        yield
    except (Broken, *TROUBLE) as bad:
        if is_ours(bad):
            raise
        budget.left_out.append((name, f"{DAMAGED} {bad}"))


def _untar(archive: tarfile.TarFile, into: Path, budget: Budget) -> None:
    """All members; where it breaks off after some, those."""
    into.mkdir(parents=True, exist_ok=True)
    try:
        for member in archive:
            _member(archive, member, into, budget)
    except (Broken, *TROUBLE) as bad:
        if is_ours(bad) or not budget.files:
            raise
        budget.left_out.append((budget.name, REST))


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo, into: Path, budget: Budget) -> None:
    if not budget.counts(member.name) or member.isdir():
        return
    if not member.isreg():
        budget.left_out.append(
            (member.name, "a link" if member.issym() or member.islnk() else "no file")
        )
        return
    target = budget.place(into, member.name)
    source = archive.extractfile(member)
    if source is not None:
        budget.copy(source, target)


def _expand(path: Path, name: str, head: bytes, into: Path, budget: Budget) -> None:
    """One compressed file, which may be a tar inside."""
    into.mkdir(parents=True, exist_ok=True)
    name = PurePosixPath(name).name
    inner = name.rsplit(".", 1)[0] if "." in name.strip(".") else name + ".log"
    target = budget.place(into, inner)
    with path.open("rb") as file:
        with opened(file, head) as source:
            budget.copy(source, target)
    with path.open("rb") as file:
        if head.startswith(ZST) and target not in budget.used.cut and not zstd_is_whole(file):
            budget.used.cut[target] = "it breaks off"
    if is_tar(target):
        unpacked = target.with_name("unpacked.tar")
        shutil.move(target, unpacked)
        budget.give_back(unpacked.stat().st_size)  # its members are counted once more
        budget.files = 0
        with tarfile.open(unpacked, "r:", tarinfo=_Member) as archive:
            _untar(archive, into, budget)
        if budget.used.cut.pop(target, "") and not _said(budget):
            budget.left_out.append((budget.name, REST))
        unpacked.unlink()


def _said(budget: Budget) -> bool:
    """Whether it is said already that the archive is not whole."""
    return (budget.name, REST) in budget.left_out
