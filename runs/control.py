"""Our end of the minder's control socket, in asyncio: its messages become futures."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import Callable, Sequence
from typing import Any

from runs.minder.channel import Inbox, encode


class Control:
    """Hears the minder. `ready`, `started` and `ended` are what it said, None: it is gone."""

    def __init__(self, sock: socket.socket, on_network: Callable[[dict[str, Any]], None]) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._inbox = Inbox(sock)
        self._loop = asyncio.get_running_loop()
        self._on_network = on_network
        self._sending = asyncio.Lock()
        self.fds: list[int] = []
        """Descriptors that came with `ready`."""
        self.ready: asyncio.Future[dict[str, Any] | None] = self._loop.create_future()
        self.started: asyncio.Future[dict[str, Any] | None] = self._loop.create_future()
        self.ended: asyncio.Future[dict[str, Any] | None] = self._loop.create_future()
        self._loop.add_reader(sock, self._read)
        self._open = True

    async def send(self, message: dict[str, Any], fds: Sequence[int] = ()) -> bool:
        """Send a message with descriptors; False when the minder is gone."""
        data = encode(message, fds)
        async with self._sending:
            if not self._open:
                return False
            try:
                if fds:
                    sent = socket.send_fds(self._sock, [data[:1]], list(fds))
                    data = data[sent:]
                await self._loop.sock_sendall(self._sock, data)
            except OSError:
                return False
        return True

    def close(self) -> None:
        """Hang up: the minder ends everything when it notices."""
        if self._open:
            self._open = False
            self._loop.remove_reader(self._sock)
            self._inbox.close()
            self._sock.close()
            for future in (self.ready, self.started, self.ended):
                if not future.done():
                    future.set_result(None)

    def _read(self) -> None:
        try:
            messages = self._inbox.read()
        except (OSError, ValueError):
            messages = None
        if messages is None:
            self.close()
            return
        for message, fds in messages:
            self._heard(message, fds)

    def _heard(self, message: dict[str, Any], fds: list[int]) -> None:
        what = message.get("what")
        if what == "network":
            self._on_network(message["attempt"])
        elif what == "ready" and not self.ready.done():
            self.fds, fds = fds, []
            self.ready.set_result(message)
        elif what in ("started", "failed") and not self.started.done():
            self.started.set_result(message)
        elif what == "ended" and not self.ended.done():
            self.ended.set_result(message)
        for fd in fds:
            os.close(fd)
