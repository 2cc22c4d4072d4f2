"""An upload in pieces: a log of a gigabyte never stands in memory as one request.

The server takes a whole request into memory before anybody reads it. So the page sends
large logs as many small ones: each appends to a file below ``var/uploads/NAME``, where NAME
is to be the permalink of the import, and the last request makes the import of them.
"""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable
from pathlib import Path

from django.conf import settings

from runs import imports, models
from runs.transcript import Unreadable

PIECE = 8 << 20
"""Bytes that the page sends at once."""
FORGOTTEN = 24 * 3600
"""Seconds after which an upload that nobody finished is removed."""
_AGAIN = "Choose the files again."


def put(name: str, pieces: Iterable[tuple[str, int, Iterable[bytes]]]) -> str:
    """Append pieces (a file's relative name, the offset, bytes) to an upload; gives its name.

    An empty `name` begins one. Raises Unreadable for a hostile name, a piece that is not the
    next one of its file, and for too much; nothing of the upload stays then.
    """
    base = _begin() if not name else _folder(name)
    try:
        for relative, at, chunks in pieces:
            _append(base / imports.safe_name(relative), at, chunks)
        sizes = [path.stat().st_size for path in base.rglob("*") if path.is_file()]
        if sum(sizes) > imports.LIMITS.total:
            raise imports.too_large()
        if len(sizes) > imports.LIMITS.files:
            raise imports.too_many()
    except BaseException:
        shutil.rmtree(base, ignore_errors=True)
        raise
    return base.name


def finish(name: str) -> tuple[models.Run, int]:
    """Make the import of an upload that is whole (not queued yet); gives it and the bytes."""
    base = _folder(name)
    target = Path(settings.VAR) / "runs" / base.name / imports.UPLOAD
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.move(base, target)
    size = sum(path.stat().st_size for path in target.rglob("*") if path.is_file())
    return imports.row(base.name), size


def _begin() -> Path:
    uploads = Path(settings.VAR) / "uploads"
    uploads.mkdir(mode=0o700, parents=True, exist_ok=True)
    for old in uploads.iterdir():
        if time.time() - old.stat().st_mtime > FORGOTTEN:
            shutil.rmtree(old, ignore_errors=True)
    base = uploads / models.new_permalink()
    base.mkdir()
    return base


def _folder(name: str) -> Path:
    base = Path(settings.VAR) / "uploads" / name
    if not name.isalnum() or not base.is_dir():
        raise Unreadable("This upload is not known, or was removed.", _AGAIN)
    return base


def _append(target: Path, at: int, chunks: Iterable[bytes]) -> None:
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb" if at == 0 else "r+b") as out:
            if out.seek(0, 2) != at:
                raise Unreadable(f"A piece of {target.name!r} is missing or came twice.", _AGAIN)
            for chunk in chunks:
                out.write(chunk)
    except FileExistsError:
        raise imports.twice(target.name) from None
    except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
        raise Unreadable(f"A piece of {target.name!r} has no place.", _AGAIN) from None
