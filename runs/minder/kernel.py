"""The few system calls that the standard library has no words for (Linux)."""

from __future__ import annotations

import ctypes
import os
import sys
from pathlib import Path
from typing import Final

LINUX: Final = sys.platform.startswith("linux")

NEW_MOUNTS: Final = 0x00020000
NEW_USERS: Final = 0x10000000
NEW_PROCESSES: Final = 0x20000000
NEW_NETWORK: Final = 0x40000000

_PARENT_DEATH: Final = 1
_DUMPABLE: Final = 4
_DROP_BOUNDING: Final = 24
_SUBREAPER: Final = 36
_NO_NEW_PRIVILEGES: Final = 38
_AMBIENT: Final = 47
_AMBIENT_CLEAR: Final = 4
_CAPABILITY_VERSION: Final = 0x20080522
_MS_PRIVATE: Final = 0x44000
_MS_BIND: Final = 0x1000
_MS_REMOUNT: Final = 0x20
_MS_READ_ONLY: Final = 0x1
_MS_SAFE: Final = 2 | 4 | 8


class _Header(ctypes.Structure):
    _fields_ = [("version", ctypes.c_uint32), ("pid", ctypes.c_int)]


def _library() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(result: int, what: str) -> None:
    if result != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")


def _prctl(option: int, *values: int) -> None:
    given = [ctypes.c_ulong(value) for value in (*values, 0, 0, 0, 0)[:4]]
    _checked(_library().prctl(option, *given), f"prctl {option}")


def die_with_parent(signal_number: int) -> None:
    """Get this signal when the process that started us is gone (its thread, to be exact)."""
    if LINUX:
        _prctl(_PARENT_DEATH, signal_number)


def adopt_orphans() -> None:
    """Become the parent of every descendant whose own parent ends."""
    if LINUX:
        _prctl(_SUBREAPER, 1)


def hide(hidden: bool = True) -> None:
    """Nobody without privilege may look into this process or attach to it."""
    if LINUX:
        _prctl(_DUMPABLE, 0 if hidden else 1)


def unshare(flags: int) -> None:
    """Enter new namespaces; OSError where the system does not let us."""
    _checked(_library().unshare(flags), "unshare")


def own_user(uid: int, gid: int) -> None:
    """Enter a user namespace in which we are `uid` and `gid`, and nobody else exists."""
    outer_uid, outer_gid = os.geteuid(), os.getegid()
    unshare(NEW_USERS)
    Path("/proc/self/setgroups").write_text("deny")
    Path("/proc/self/uid_map").write_text(f"{uid} {outer_uid} 1")
    Path("/proc/self/gid_map").write_text(f"{gid} {outer_gid} 1")


def keep_mounts_private() -> None:
    """What we mount from here on is seen by nobody outside."""
    _mount(None, "/", None, _MS_PRIVATE)


def lay_over(source: str, target: str) -> None:
    """Show the file `source` in the place of `target`."""
    _mount(source, target, None, _MS_BIND)


def kernel_settings() -> list[str]:
    """What in ``/proc`` changes the machine when root's user writes it, whatever its namespace."""
    found = []
    for entry in os.scandir("/proc") if LINUX else ():
        if not entry.name.isdigit() and not entry.is_symlink():
            writable = entry.stat(follow_symlinks=False).st_mode & 0o222
            if writable or entry.is_dir(follow_symlinks=False):
                found.append(entry.path)
    return sorted(found)


def make_readonly(path: str) -> None:
    """Let nobody in our mount namespace write there."""
    _mount(path, path, None, _MS_BIND)
    _mount(None, path, None, _MS_REMOUNT | _MS_BIND | _MS_READ_ONLY | _MS_SAFE)


def mount_processes() -> None:
    """Mount a ``/proc`` that shows the processes of our namespace only."""
    _mount("proc", "/proc", "proc", _MS_SAFE)


def _mount(source: str | None, target: str, kind: str | None, flags: int) -> None:
    encoded = [text.encode() if text is not None else None for text in (source, target, kind)]
    result = _library().mount(*encoded, ctypes.c_ulong(flags), None)
    _checked(result, f"mount {target}")


def drop_privileges() -> None:
    """Give up every capability, for us and whatever we start, for good."""
    if not LINUX:
        return
    _prctl(_NO_NEW_PRIVILEGES, 1)
    _prctl(_AMBIENT, _AMBIENT_CLEAR)
    for capability in range(64):
        try:
            _prctl(_DROP_BOUNDING, capability)
        except OSError:
            break
    header = _Header(_CAPABILITY_VERSION, 0)
    nothing = (ctypes.c_uint32 * 6)()
    _checked(_library().capset(ctypes.byref(header), ctypes.byref(nothing)), "capset")
