"""Start the agent without privileges, reap everything, and leave no descendant alive."""

from __future__ import annotations

import contextlib
import os
import resource
import signal
import time
from pathlib import Path
from typing import Any

from . import kernel


class StartFailed(Exception):
    """The agent could not be executed; the text has the system's reason."""


def start(order: dict[str, Any], fds: list[int], *, own_user: bool) -> int:
    """Start the agent in its own session; gives its pid.

    `order` has argv, env, cwd, and limits by name; `fds` are its stdin, stdout and stderr.
    """
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        _become(order, fds, write, own_user)
    os.close(write)
    for fd in fds:
        os.close(fd)
    with os.fdopen(read, "rb") as pipe:
        trouble = pipe.read()
    if trouble:
        os.waitpid(pid, 0)
        raise StartFailed(trouble.decode(errors="replace"))
    return pid


def _become(order: dict[str, Any], fds: list[int], report: int, own_user: bool) -> None:
    """In the forked child: give up everything, then be the agent. Never returns."""
    try:
        os.setsid()
        for target, fd in enumerate(fds):
            os.dup2(fd, target, inheritable=True)
        os.set_inheritable(report, False)
        if report <= 2:
            raise OSError("the standard streams were closed")
        for number in signal.valid_signals():  # also what whoever started us had ignored
            with contextlib.suppress(OSError, ValueError):
                signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_SETMASK, [])
        _limit(order.get("limits", {}))
        if own_user:
            kernel.hide(False)  # a hidden process may not write its own user map
            with contextlib.suppress(OSError):
                kernel.own_user(1000, 1000)
        kernel.drop_privileges()
        kernel.die_with_parent(signal.SIGKILL)  # forgotten whenever credentials change: last
        os.umask(0o077)
        os.chdir(order["cwd"])
        os.execvpe(order["argv"][0], order["argv"], order["env"])
    except BaseException as error:  # whatever it is, the parent has to hear of it
        os.write(report, str(error).encode()[:4000] or b"it failed without a reason")
    finally:
        os._exit(127)


def _limit(limits: dict[str, int]) -> None:
    """Set resource limits, never above what we have ourselves; no core files."""
    for name, value in {"CORE": 0, **limits}.items():
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        hard = resource.getrlimit(kind)[1]
        least = value if hard == resource.RLIM_INFINITY else min(value, hard)
        with contextlib.suppress(OSError, ValueError):
            resource.setrlimit(kind, (least, least))


def reap() -> dict[int, int]:
    """Collect every child that has ended: raw wait status by pid."""
    ended: dict[int, int] = {}
    while True:
        try:
            pid, status = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return ended
        if pid == 0:
            return ended
        ended[pid] = status


def crowd() -> int:
    """How many processes there are in our namespace (all of them ours when it is our own)."""
    return sum(entry.name.isdigit() for entry in os.scandir("/proc"))


def descendants() -> list[int]:
    """Pids of everything below us that is not dead yet (empty where there is no ``/proc``)."""
    parents: dict[int, list[int]] = {}
    for entry in os.scandir("/proc") if kernel.LINUX else ():
        if entry.name.isdigit():
            try:
                stat = Path(entry.path, "stat").read_bytes()
            except OSError:
                continue
            fields = stat[stat.rindex(b")") + 2 :].split()
            if fields[0] not in (b"Z", b"X"):
                parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, todo = [], [os.getpid()]
    while todo:
        for pid in parents.get(todo.pop(), ()):
            found.append(pid)
            todo.append(pid)
    return found


def signal_all(number: int, agent: int) -> int:
    """Send a signal to every descendant (and the agent's group); gives how many there are."""
    pids = descendants()
    for pid in pids:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
    if not kernel.LINUX and agent > 0:
        with contextlib.suppress(OSError):
            os.killpg(agent, number)
    return len(pids)


def kill_everything(agent: int, patience: float = 5.0) -> dict[int, int]:
    """KILL until nothing of ours is left; gives the wait statuses that were collected."""
    ended: dict[int, int] = {}
    deadline = time.monotonic() + patience
    while True:
        alive = signal_all(signal.SIGKILL, agent)
        ended.update(reap())
        if not alive and not _has_children():
            return ended
        if time.monotonic() > deadline:
            return ended
        time.sleep(0.005)


def _has_children() -> bool:
    """Whether any child is left, dead or alive (without collecting it)."""
    try:
        os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return True
