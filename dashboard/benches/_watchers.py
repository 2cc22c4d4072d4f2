"""Many plain WebSocket clients in a process of their own: when each event reached each.

Called as ``python -m dashboard.benches._watchers ADDRESS PATH COUNT LAST``; says ``ready``
when all are connected, and prints one JSON document when all have event `LAST`.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import re
import struct
import sys
import time
from urllib.parse import urlsplit

_EVENT = re.compile(rb'"seq":(\d+).*?"written":([\d.]+)')


class Watcher:
    """One connection; keeps the delay of every event, and counts what is out of order."""

    def __init__(self) -> None:
        self.delays: list[float] = []
        self.at = 0
        self.wrong = 0

    async def open(self, host: str, port: int, path: str) -> None:
        """Connect and shake hands."""
        self.reader, self.writer = await asyncio.open_connection(host, port, limit=1 << 24)
        key = base64.b64encode(os.urandom(16)).decode()
        own = f"{host}:{port}"
        self.writer.write(
            f"GET {path} HTTP/1.1\r\nHost: {own}\r\nOrigin: http://{own}\r\nUpgrade: websocket\r\n"
            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n"
            "\r\n".encode()
        )
        head = await self.reader.readuntil(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(head.decode())

    async def follow(self, last: int) -> None:
        """Take messages until event `last` is there."""
        while self.at < last:
            payload = await self._message()
            now = time.time()
            if not payload.startswith(b'{"type":"events"'):
                continue
            for seq, written in _EVENT.findall(payload):
                self.wrong += int(seq) != self.at + 1
                self.at = int(seq)
                self.delays.append(now - float(written))

    async def _message(self) -> bytes:
        _, length = await self.reader.readexactly(2)
        length &= 127
        if length == 126:
            (length,) = struct.unpack(">H", await self.reader.readexactly(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", await self.reader.readexactly(8))
        return await self.reader.readexactly(length)

    def drop(self) -> None:
        """Hang up without a word."""
        self.writer.close()


async def main(address: str, path: str, count: int, last: int) -> None:
    """Connect all, follow all, print what they saw."""
    parts = urlsplit(address)
    watchers = [Watcher() for _ in range(count)]
    for watcher in watchers:
        await watcher.open(parts.hostname or "127.0.0.1", parts.port or 80, path)
    print("ready", flush=True)
    await asyncio.gather(*(watcher.follow(last) for watcher in watchers))
    delays = [delay for watcher in watchers for delay in watcher.delays]
    print(json.dumps({"delays": delays, "wrong": sum(watcher.wrong for watcher in watchers)}))


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
