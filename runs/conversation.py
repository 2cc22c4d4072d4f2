"""The pipes of an agent that its driver talks to."""

from __future__ import annotations

import asyncio

from runs.process import Running

LINE_LIMIT = 16 << 20


class PipeConversation:
    """Lines out over standard input, lines in as the pump of standard output gives them."""

    def __init__(self, running: Running) -> None:
        self._running = running
        self._lines: asyncio.Queue[bytes] = asyncio.Queue()
        self._buffer = bytearray()

    def received(self, data: bytes) -> None:
        """Bytes of standard output, b"" at its end."""
        if not data:
            self._lines.put_nowait(b"")
            return
        self._buffer += data
        *whole, rest = bytes(self._buffer).split(b"\n")
        self._buffer = bytearray(rest[:LINE_LIMIT])
        for line in whole:
            self._lines.put_nowait(line + b"\n")

    async def send(self, line: bytes) -> None:
        """Write one line to the agent; a closed pipe is not an error here, its exit tells."""
        writer = self._running.stdin
        if writer is None or writer.is_closing():
            return
        try:
            writer.write(line if line.endswith(b"\n") else line + b"\n")
            await writer.drain()
        except (ConnectionError, RuntimeError):
            pass

    async def line(self) -> bytes:
        """The next line of standard output with its newline; b"" once it is over."""
        return await self._lines.get()

    def close(self) -> None:
        """Close standard input: a well-behaved agent ends now."""
        if self._running.stdin is not None:
            self._running.stdin.close()

    def stop(self) -> None:
        """The same, under the name of the driver's interface."""
        self.close()
