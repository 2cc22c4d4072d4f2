"""The minder's life: prepare the network, wait for the order, start the agent, end it all."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import socket
import sys
import time
from collections.abc import Callable
from typing import Any, Final

from . import children, kernel
from .channel import Inbox, send
from .names import NameServer
from .network import Lookout, loopback_up, route_everything_here
from .own import raise_own

LOOK: Final = 0.5
"""Seconds between two looks at the number of the agent's processes."""
MOST_ATTEMPTS: Final = 500
"""Different attempts that are reported in one run; a flood of them must not flood us."""


class Minder:
    """One run's minder. `settings` come from `runs.process` as JSON on its command line."""

    def __init__(self, control: socket.socket, settings: dict[str, Any]) -> None:
        self.control = control
        self.inbox = Inbox(control)
        self.settings = settings
        self.selector = selectors.DefaultSelector()
        self.agent = 0
        self.status: int | None = None
        self.left = 0
        self.kill_at: float | None = None
        self.over = False
        self.crowded = False
        self.most = 0
        """Processes that the agent may have; 0 where we cannot tell its from others."""
        self.noted: dict[tuple[Any, ...], float] = {}

    def live(self) -> None:
        """Until the agent's end was reported, or the control socket closed."""
        wake, woken = os.pipe()
        os.set_blocking(woken, False)
        os.set_blocking(wake, False)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            signal.signal(number, self._give_up)
        self._watch(wake, lambda: self._children(wake))
        self._watch(self.control, self._orders)
        try:
            self._ready()
            while not self.over:
                for key, _ in self.selector.select(self._patience()):
                    key.data()
                self._look()
        finally:
            children.kill_everything(self.agent)

    def _patience(self) -> float | None:
        """Seconds until something is to be done though nothing happens."""
        if self.kill_at is not None:
            return max(self.kill_at - time.monotonic(), 0)
        return LOOK if self.agent and self.most else None

    def _look(self) -> None:
        """The grace may be over; the agent may have become too many."""
        if self.kill_at is not None:
            if time.monotonic() >= self.kill_at:
                self._finish()
        elif self.agent and self.most and children.crowd() > self.most:
            self.crowded = True
            self._end(0)

    def _watch(self, thing: Any, then: Callable[[], None]) -> None:
        self.selector.register(thing, selectors.EVENT_READ, then)

    def _give_up(self, *_: object) -> None:
        self.over = True

    def _say(self, message: dict[str, Any], fds: list[int] | None = None) -> None:
        try:
            send(self.control, message, fds or [])
        except OSError:
            self.over = True

    def _ready(self) -> None:
        """Raise what belongs to the network and say what came of it."""
        sees: list[str] = []
        if self.settings.get("network"):
            with contextlib.suppress(OSError):
                loopback_up()
            sees = self._look_out()
        message: dict[str, Any] = {"what": "ready", "pid": os.getpid(), "sees": sees}
        fds = []
        if self.settings.get("listener"):
            listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(("127.0.0.1", 0))
            listener.listen(512)
            message["port"] = listener.getsockname()[1]
            fds.append(listener.detach())
        self._say(message, fds)
        for fd in fds:
            os.close(fd)

    def _look_out(self) -> list[str]:
        """Names and addresses are noted as far as we may; gives which of the two are."""
        sees = []
        try:
            server = NameServer()
        except OSError:
            pass
        else:
            self._watch(server.udp, lambda: self._note(server.read_udp()))
            self._watch(server.tcp, lambda: self._note(server.read_tcp()))
            sees.append("names")
        try:
            route_everything_here()
            lookout = Lookout()
        except OSError:
            pass
        else:
            self._watch(lookout.socket, lambda: self._note(lookout.read()))
            sees.append("addresses")
        return sees

    def _note(self, attempts: list[dict[str, Any]]) -> None:
        """Report attempts, the same one at most once a second."""
        now = time.monotonic()
        for attempt in attempts:
            key = tuple(attempt.values())
            if key not in self.noted and len(self.noted) >= MOST_ATTEMPTS:
                continue
            if now - self.noted.get(key, -10.0) >= 1.0:
                self.noted[key] = now
                self._say({"what": "network", "attempt": attempt})

    def _orders(self) -> None:
        messages = self.inbox.read()
        if messages is None:
            self.over = True
            return
        for message, fds in messages:
            if message["what"] == "launch" and not self.agent:
                self._launch(message, fds)
            elif message["what"] == "kill":
                self._end(float(message.get("grace", 0)))

    def _launch(self, order: dict[str, Any], fds: list[int]) -> None:
        try:
            self.agent = children.start(order, fds, own_user=bool(self.settings.get("own_user")))
        except (children.StartFailed, OSError) as error:
            self._say({"what": "failed", "why": str(error)})
            self.over = True
            return
        if self.settings.get("own_processes"):
            self.most = int(order.get("limits", {}).get("NPROC", 0))
        self._say({"what": "started", "pid": self.agent})

    def _children(self, wake: int) -> None:
        with contextlib.suppress(OSError):
            os.read(wake, 4096)
        self._collect(children.reap())
        if self.status is not None and self.kill_at is None:
            self.left = len(children.descendants())
            self._finish()
        elif self.kill_at is not None and not children.descendants():
            self._finish()

    def _collect(self, ended: dict[int, int]) -> None:
        if self.status is None and self.agent in ended:
            self.status = ended[self.agent]

    def _end(self, grace: float) -> None:
        """TERM for everything; KILL follows when the grace is over."""
        if self.kill_at is None:
            self.kill_at = time.monotonic() + grace
            children.signal_all(signal.SIGTERM, self.agent)
            children.signal_all(signal.SIGCONT, self.agent)

    def _finish(self) -> None:
        """Nothing may be left; say how the agent itself ended."""
        self._collect(children.kill_everything(self.agent))
        if self.status is not None:
            code = os.waitstatus_to_exitcode(self.status)
            report = {"code": code} if code >= 0 else {"signal": -code}
            self._say({"what": "ended", **report, "left": self.left, "crowded": self.crowded})
        self.over = True


def main(number: int, settings: dict[str, Any]) -> None:
    """Mind one run; `number` is the descriptor of the control socket."""
    os.set_inheritable(number, False)
    try:
        raise_own(settings.get("own", ()), settings.get("lay_over", {}), number)
    except OSError as error:
        sys.exit(f"the minder's own seal does not hold: {error}")
    control = socket.socket(fileno=number)
    kernel.adopt_orphans()
    kernel.die_with_parent(signal.SIGTERM)
    kernel.hide()
    Minder(control, settings).live()
    sys.stdout.flush()
    os._exit(0)
