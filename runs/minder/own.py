"""The seal that the minder can raise by itself where bubblewrap does not work."""

from __future__ import annotations

import os
import signal
from collections.abc import Collection, Mapping

from . import kernel


def raise_own(parts: Collection[str], files: Mapping[str, str], control: int) -> None:
    """Enter the namespaces in `parts` (users, network, processes); OSError where it may not.

    `files`: what is shown instead of a system file (``/etc/resolv.conf`` → ours). With
    ``processes`` this returns in a new first process; the old one only waits for it.
    """
    if not parts:
        return
    if "users" in parts:
        kernel.own_user(0, 0)
    flags = kernel.NEW_MOUNTS
    if "network" in parts:
        flags |= kernel.NEW_NETWORK
    if "processes" in parts:
        flags |= kernel.NEW_PROCESSES
    kernel.unshare(flags)
    kernel.keep_mounts_private()
    for target, source in files.items():
        if os.path.exists(target):  # noqa: PTH110
            kernel.lay_over(source, target)
    if "processes" in parts:
        _be_first(control)
        kernel.mount_processes()
    for path in kernel.kernel_settings():
        kernel.make_readonly(path)


def _be_first(control: int) -> None:
    """Fork: the child is the first process of the new namespace, the parent waits and ends."""
    child = os.fork()
    if child == 0:
        kernel.die_with_parent(signal.SIGKILL)
        return
    os.close(control)
    kernel.die_with_parent(signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    os._exit(os.waitstatus_to_exitcode(status) & 0xFF)
