"""The listening socket, which a fault may shut for a time.

Shutting uses ``shutdown`` on the listening socket: from then on connections are
refused by the kernel, while accepted ones live on. The socket itself is kept and
listens again on the same port, also where it was made inside a sealed network.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from contextlib import suppress

BACKLOG = 512


class Door:
    """One listening socket. `sock` is already bound and listens."""

    def __init__(self, sock: socket.socket) -> None:
        sock.setblocking(False)
        self._sock = sock
        self._open = asyncio.Event()
        self._open.set()
        self._opens_at = 0.0
        self._nobody: socket.socket | None = None
        self._shutting: asyncio.Task[None] | None = None
        self.on_shut: Callable[[], None] = lambda: None
        """Called when it is shut: the provider then closes connections that are idle."""
        self.host, self.port = sock.getsockname()[:2]

    @classmethod
    def at(cls, host: str, port: int) -> Door:
        """Listens there; port 0: any free one."""
        sock = socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        sock.bind((host, port))
        sock.listen(BACKLOG)
        return cls(sock)

    @property
    def is_shut(self) -> bool:
        """Whether connections are refused now."""
        return not self._open.is_set()

    async def accept(self) -> socket.socket:
        """The next connection; waits while the door is shut."""
        loop = asyncio.get_running_loop()
        while True:
            await self._open.wait()
            try:
                return (await loop.sock_accept(self._sock))[0]
            except OSError:
                # Shut just now, or the client has gone, or no descriptor is left: look again.
                await asyncio.sleep(0.01)

    def shut(self, seconds: float) -> None:
        """Refuses connections for that long; a second fault meanwhile makes it longer."""
        self._opens_at = max(self._opens_at, asyncio.get_running_loop().time() + seconds)
        if not self._open.is_set():
            return
        self._open.clear()
        with suppress(OSError):
            self._sock.shutdown(socket.SHUT_RD)
        self.on_shut()
        self._shutting = asyncio.create_task(self._open_later())

    async def _open_later(self) -> None:
        while (left := self._opens_at - asyncio.get_running_loop().time()) > 0:
            await asyncio.sleep(left)
        with suppress(OSError):
            # A port that the system chose is given back by the shutdown: take it again.
            self._sock.bind((self.host, self.port))
        self._sock.listen(BACKLOG)
        self._open.set()

    def nobody(self) -> tuple[str, int]:
        """Host and port where nobody listens: a socket of ours is bound there and does not."""
        if self._nobody is None:
            self._nobody = socket.socket(self._sock.family)
            self._nobody.bind((self.host, 0))
        return self.host, int(self._nobody.getsockname()[1])

    def close(self) -> None:
        """Stops listening."""
        if self._shutting is not None:
            self._shutting.cancel()
        self._sock.close()
        if self._nobody is not None:
            self._nobody.close()
