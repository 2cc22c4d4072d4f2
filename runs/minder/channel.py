"""The control socket: JSON lines both ways, with descriptors beside them.

Used by both ends, so that there is one place that knows the format. A message
with ``"fds": n`` comes with n descriptors, in order.
"""

from __future__ import annotations

import array
import json
import os
import socket
from collections.abc import Sequence
from typing import Any, Final

CHUNK: Final = 65536
MOST_FDS: Final = 16
_CLOSE_ON_EXEC: Final[int] = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
LONGEST: Final = 64 * 1024 * 1024


def encode(message: dict[str, Any], fds: Sequence[int] = ()) -> bytes:
    """One message as a line."""
    if fds:
        message = {**message, "fds": len(fds)}
    return json.dumps(message, ensure_ascii=True).encode() + b"\n"


def send(sock: socket.socket, message: dict[str, Any], fds: Sequence[int] = ()) -> None:
    """Send a message whole (the socket blocks); descriptors go with its first byte."""
    data = encode(message, fds)
    if fds:
        sent = socket.send_fds(sock, [data[:1]], list(fds))
        data = data[sent:]
    sock.sendall(data)


class Inbox:
    """Collects what arrives and gives whole messages."""

    def __init__(self, sock: socket.socket) -> None:
        self._sock = sock
        self._data = bytearray()
        self._fds: list[int] = []

    def read(self) -> list[tuple[dict[str, Any], list[int]]] | None:
        """Receive once; whole messages with their descriptors, None at the end of the stream."""
        room = socket.CMSG_SPACE(MOST_FDS * array.array("i").itemsize)
        try:
            data, extra, _, _ = self._sock.recvmsg(CHUNK, room, _CLOSE_ON_EXEC)
        except (BlockingIOError, InterruptedError):
            return []
        except ConnectionError:
            return None
        for level, kind, content in extra:
            if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
                fds = array.array("i")
                fds.frombytes(content[: len(content) - len(content) % fds.itemsize])
                for fd in fds:
                    os.set_inheritable(fd, False)
                self._fds.extend(fds)
        if not data:
            return None
        self._data += data
        if len(self._data) > LONGEST:
            return None
        return self._whole()

    def _whole(self) -> list[tuple[dict[str, Any], list[int]]]:
        messages = []
        *lines, rest = bytes(self._data).split(b"\n")
        self._data = bytearray(rest)
        for line in lines:
            message = json.loads(line)
            count = int(message.get("fds", 0))
            messages.append((message, self._fds[:count]))
            del self._fds[:count]
        return messages

    def close(self) -> None:
        """Close descriptors that no message claimed."""
        for fd in self._fds:
            os.close(fd)
        self._fds.clear()
