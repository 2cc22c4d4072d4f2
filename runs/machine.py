"""What the machine refuses (no room, no right, no database), in words and with what to do."""

from __future__ import annotations

import errno
import os

from django.db import InterfaceError, OperationalError

from runs.errors import CannotRunHere

_FULL = (errno.ENOSPC, errno.EDQUOT)
_FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)


def in_words(error: BaseException | None) -> CannotRunHere | None:
    """The machine's part in an exception; None where it is no matter of the machine."""
    if isinstance(error, OperationalError | InterfaceError):
        says = " ".join(str(error).split())[:300].rstrip(".?") or type(error).__name__
        if os.environ.get("DATABASE_URL"):
            return CannotRunHere(
                f"The database does not take it: {says}.",
                "Look at DATABASE_URL and at its server; then try again.",
            )
        return CannotRunHere(
            f"The database does not take it: {says}.",
            "It lies in var/, or where LIFELINE_VAR says: look at the room and the rights there.",
        )
    if isinstance(error, OSError) and error.errno in _FULL:
        return CannotRunHere(
            f"There is no room left{_where(error)}.",
            "Make room, or set LIFELINE_VAR and LIFELINE_BINARIES to folders that have it.",
        )
    if isinstance(error, OSError) and error.errno in _FORBIDDEN and error.filename:
        return CannotRunHere(
            f"This user may not use{_where(error, '')}: {os.strerror(error.errno)}.",
            "Give it the right, or set LIFELINE_VAR and LIFELINE_BINARIES to folders of its own.",
        )
    return None


def _where(error: OSError, before: str = " for") -> str:
    return f"{before} {error.filename}" if error.filename else ""
