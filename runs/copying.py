"""Copy a prepared folder into a run: own blocks or shared until written, never hard links."""

from __future__ import annotations

import fcntl
import os
import shutil
import sys
from pathlib import Path
from typing import Final

_FICLONE: Final = 0x40049409
"""Linux: share the blocks of a whole file until one of the two is written."""


def copy_tree(source: Path, target: Path) -> None:
    """Copy a folder with its modes, times and links; an existing target is filled up."""
    shutil.copytree(source, target, symlinks=True, dirs_exist_ok=True, copy_function=copy_file)


def copy_file(source: str, target: str, *, follow_symlinks: bool = True) -> str:
    """One file, its blocks shared where the file system can do that (else copied)."""
    if not follow_symlinks and Path(source).is_symlink():
        return str(shutil.copy2(source, target, follow_symlinks=False))
    if not _clone(source, target):
        shutil.copyfile(source, target)
    shutil.copystat(source, target)
    return target


def _clone(source: str, target: str) -> bool:
    if not sys.platform.startswith("linux"):
        return False
    with open(source, "rb") as read, open(target, "wb") as written:  # noqa: PTH123
        try:
            fcntl.ioctl(written.fileno(), _FICLONE, read.fileno())
        except OSError:
            return False
    return os.stat(target).st_size == os.stat(source).st_size  # noqa: PTH116
