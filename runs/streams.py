"""An agent's standard streams: pipes whose other ends are read and written by asyncio."""

from __future__ import annotations

import asyncio
import os
from dataclasses import dataclass, field
from typing import Any, Final, Self

READ_AHEAD: Final = 64 * 1024
"""Bytes of a standard stream that wait in memory at most (twice that, to be exact)."""


@dataclass(slots=True)
class Streams:
    """Our ends, and the three descriptors of the agent (`theirs`) until they are handed over."""

    stdout: asyncio.StreamReader
    stderr: asyncio.StreamReader
    stdin: asyncio.StreamWriter | None = None
    theirs: list[int] = field(default_factory=list)
    """Its standard input, output and error, in this order."""
    transports: list[asyncio.BaseTransport] = field(default_factory=list)

    @classmethod
    async def open(cls, want_stdin: bool) -> Self:
        """Make the pipes; without `want_stdin` the agent reads from the null device."""
        streams = cls(
            asyncio.StreamReader(limit=READ_AHEAD), asyncio.StreamReader(limit=READ_AHEAD)
        )
        if want_stdin:
            await streams._open_stdin()
        else:
            streams.theirs.append(os.open(os.devnull, os.O_RDONLY))
        for reader in (streams.stdout, streams.stderr):
            await streams._open_reader(reader)
        return streams

    async def _open_reader(self, reader: asyncio.StreamReader) -> None:
        read, write = os.pipe()
        self.theirs.append(write)
        transport, _ = await asyncio.get_running_loop().connect_read_pipe(
            lambda: asyncio.StreamReaderProtocol(reader), os.fdopen(read, "rb", 0)
        )
        self.transports.append(transport)

    async def _open_stdin(self) -> None:
        read, write = os.pipe()
        self.theirs.append(read)
        loop = asyncio.get_running_loop()
        transport: Any
        transport, protocol = await loop.connect_write_pipe(
            lambda: asyncio.StreamReaderProtocol(asyncio.StreamReader()), os.fdopen(write, "wb", 0)
        )
        transport.set_write_buffer_limits(READ_AHEAD)
        self.transports.append(transport)
        self.stdin = asyncio.StreamWriter(transport, protocol, None, loop)

    def close_theirs(self) -> None:
        """Close the agent's ends here, once it has them (else we would never see the end)."""
        while self.theirs:
            os.close(self.theirs.pop())
