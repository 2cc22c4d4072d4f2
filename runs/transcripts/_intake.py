"""What was attached, as a flat list of files: folders walked, archives unpacked, limits kept.

Links are never followed; what is left out is listed with the reason.
"""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath

from runs.transcripts._limits import MIB, Limits, Unreadable
from runs.transcripts._unpack import DAMAGED, Damaged, Used, is_packed, unpack

__all__ = ["Attached", "Intake", "Limits", "Unreadable", "gather"]

OURS = frozenset({"manifest.json", "events.jsonl"})
"""The files by which an archive of Lifeline is known."""


@dataclass(frozen=True, slots=True)
class Attached:
    """One file to read: its short name (as in evidence) and where it is.

    `cut`: why it is here only in part, where it was unpacked from a broken archive.
    """

    name: str
    path: Path
    size: int
    cut: str = ""


@dataclass(slots=True)
class Intake:
    """All files to read, and what was left out with the reason."""

    files: list[Attached] = field(default_factory=list)
    left_out: list[tuple[str, str]] = field(default_factory=list)
    used: Used = field(default_factory=Used)


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
    _inner(into, intake, limits)
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
            size, cut = entry.stat(follow_symlinks=False).st_size, intake.used.cut.get(path, "")
            _add(intake, Attached(name, path, size, cut), limits)


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
    if not is_packed(path):
        _add(intake, Attached(name, path, path.stat().st_size), limits)
        return
    intake.left_out.extend(unpack(path, name, into, limits, intake.used))
    _walk(into, into, intake, limits, 0)


def _inner(into: Path, intake: Intake, limits: Limits) -> None:
    """Unpack what is packed within a folder or an archive, once; our own archives stay whole."""
    names = {file.name for file in intake.files}
    if names >= OURS:
        return
    files, intake.files = intake.files, []
    for number, file in enumerate(files):
        if not is_packed(file.path):
            _add(intake, file, limits)
            continue
        place, inner = into / f"inner-{number}", Intake(used=intake.used)
        try:
            left_out = unpack(file.path, file.name, place, limits, intake.used)
            _walk(place, place, inner, limits, 0)
        except Damaged as damaged:
            intake.left_out.append((file.name, f"{DAMAGED} {damaged.what}"))
            continue
        above = PurePosixPath(file.name)
        if [one.name for one in inner.files] == [above.stem]:  # compressed, not an archive
            above = above.parent
        intake.left_out.extend(
            (name if name == file.name else str(above / name), why) for name, why in left_out
        )
        for one in inner.files:
            name = str(above / one.name)
            if is_packed(one.path):
                intake.left_out.append((name, "an archive within an archive: unpack it"))
            else:
                _add(intake, replace(one, name=name), limits)


def _distinct(intake: Intake) -> None:
    """Two files of one name (from two folders) get their order in front of it."""
    seen: dict[str, int] = {}
    for place, file in enumerate(intake.files):
        count = seen.get(file.name, 0)
        seen[file.name] = count + 1
        if count:
            intake.files[place] = replace(file, name=f"{count + 1}/{file.name}")
