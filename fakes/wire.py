"""One accepted connection, byte for byte.

Raw non-blocking sockets, because a fault must decide what is a clean end (FIN),
what a reset (RST) and when which byte leaves. h11 only parses requests, with a
fresh parser for each; answers are written by hand.
"""

from __future__ import annotations

import asyncio
import fcntl
import socket
import struct
import termios
import zlib
from dataclasses import dataclass
from typing import Literal

import h11
import zstandard

RECEIVE = 256 * 1024
BACKLOG = 4 * 1024 * 1024
"""Received but not yet parsed bytes that are held before the client has to wait."""
HEADERS_LIMIT = 1024 * 1024
DRAIN_SECONDS = 5.0


class ClientGone(Exception):
    """The client closed the connection before the exchange was over."""


class TooLarge(Exception):
    """The request's body is over the limit."""


class Malformed(Exception):
    """What arrived is no HTTP request; the text says why."""


@dataclass(frozen=True, slots=True)
class RawRequest:
    """A whole request. `headers` have lower-case names; `wire_bytes` is the body as it came."""

    method: str
    target: str
    headers: dict[str, str]
    body: bytes
    wire_bytes: int
    keep_alive: bool
    old_protocol: bool
    """HTTP/1.0: no chunks, and the connection ends with the answer."""


class Connection:
    """An accepted socket. All methods belong to one task, except :meth:`close`."""

    def __init__(self, sock: socket.socket, number: int, body_limit: int) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.number = number
        self.gone = asyncio.Event()
        self.closed: Literal["", "cut", "reset"] = ""
        self._sock = sock
        self._limit = body_limit
        self._received = bytearray()
        self._news = asyncio.Event()
        self._room = asyncio.Event()
        self._reader = asyncio.create_task(self._read())

    async def _read(self) -> None:
        """Takes what arrives at once, so that a leaving client is noticed at any time."""
        loop = asyncio.get_running_loop()
        while True:
            try:
                data = await loop.sock_recv(self._sock, RECEIVE)
            except OSError:
                data = b""
            if not data:
                break
            self._received += data
            self._news.set()
            while len(self._received) > BACKLOG:
                self._room.clear()
                await self._room.wait()
        self.gone.set()
        self._news.set()

    async def _some(self) -> bytes:
        """What has arrived since, b"" at the end."""
        while not self._received and not self.gone.is_set():
            self._news.clear()
            await self._news.wait()
        data = bytes(self._received)
        self._received.clear()
        self._room.set()
        return data

    async def request(self) -> RawRequest | None:
        """The next request; None when the client has left. TooLarge, Malformed."""
        parser = h11.Connection(h11.SERVER, max_incomplete_event_size=HEADERS_LIMIT)
        head: h11.Request | None = None
        body = bytearray()
        try:
            while True:
                event = parser.next_event()
                if event is h11.NEED_DATA:
                    parser.receive_data(await self._some())
                elif isinstance(event, h11.Request):
                    head = event
                    await self._head_seen(event)
                elif isinstance(event, h11.Data):
                    body += event.data
                    if len(body) > self._limit:
                        raise TooLarge
                elif isinstance(event, h11.EndOfMessage) and head is not None:
                    self._received[:0] = parser.trailing_data[0]
                    return _request(head, bytes(body), self._limit)
                else:
                    return None
        except h11.RemoteProtocolError as error:
            if head is None and self.gone.is_set():
                return None
            raise Malformed(str(error)) from None

    async def _head_seen(self, head: h11.Request) -> None:
        headers = dict(head.headers)
        if int(headers.get(b"content-length", b"0")) > self._limit:
            raise TooLarge
        if headers.get(b"expect", b"").lower() == b"100-continue":
            await self.write(b"HTTP/1.1 100 Continue\r\n\r\n")

    async def write(self, data: bytes) -> None:
        """Gives the bytes to the kernel; ClientGone when nobody takes them."""
        if self.gone.is_set():
            raise ClientGone
        try:
            await asyncio.get_running_loop().sock_sendall(self._sock, data)
        except OSError:
            self.gone.set()
            raise ClientGone from None

    async def pause(self, seconds: float | None) -> None:
        """Waits (None: for ever); ClientGone as soon as the client leaves."""
        if seconds is not None and seconds <= 0:
            return
        try:
            await asyncio.wait_for(self.gone.wait(), seconds)
        except TimeoutError:
            return
        raise ClientGone

    async def cut(self) -> None:
        """Closes cleanly (FIN), whatever the body still lacks."""
        self.closed = self.closed or "cut"
        await self.close()

    async def reset(self) -> None:
        """Closes by RST, after what was written has arrived (a reset discards the rest)."""
        self.closed = "reset"
        for _ in range(2000):
            if not self._unsent():
                break
            await asyncio.sleep(0.001)
        self._sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await self.close()

    def _unsent(self) -> int:
        try:
            answer = fcntl.ioctl(self._sock, termios.TIOCOUTQ, b"\0\0\0\0")
        except OSError:
            return 0
        return int(struct.unpack("i", answer)[0])

    async def drain(self) -> None:
        """Reads away what still comes, so that an early answer is not lost by a reset."""
        try:
            self._sock.shutdown(socket.SHUT_WR)
            async with asyncio.timeout(DRAIN_SECONDS):
                while await self._some():
                    pass
        except (OSError, TimeoutError):
            pass

    async def close(self) -> None:
        """Ends the connection; harmless when it has ended."""
        self._reader.cancel()
        await asyncio.wait([self._reader])
        self.gone.set()
        self._news.set()
        self._sock.close()


def _request(head: h11.Request, body: bytes, limit: int) -> RawRequest:
    headers: dict[str, str] = {}
    for raw_name, raw_value in head.headers:
        name, value = raw_name.decode("latin-1"), raw_value.decode("latin-1")
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    old = head.http_version == b"1.0"
    return RawRequest(
        method=head.method.decode("latin-1"),
        target=head.target.decode("latin-1"),
        headers=headers,
        body=_decoded(body, headers.get("content-encoding", "").strip().lower(), limit),
        wire_bytes=len(body),
        keep_alive=not old and "close" not in headers.get("connection", "").lower(),
        old_protocol=old,
    )


def _decoded(body: bytes, encoding: str, limit: int) -> bytes:
    """The body without its Content-Encoding; TooLarge when it grows over the limit."""
    if encoding in ("", "identity"):
        return body
    try:
        if encoding in ("gzip", "x-gzip", "deflate"):
            unpacker = zlib.decompressobj(wbits=47)
            plain = unpacker.decompress(body, limit + 1)
            if not unpacker.eof and len(plain) <= limit:
                raise Malformed(f"The body is not whole {encoding}")
        elif encoding == "zstd":
            plain = zstandard.ZstdDecompressor().stream_reader(body).read(limit + 1)
        else:
            raise Malformed(f"Content-Encoding {encoding} is not understood")
    except (zlib.error, zstandard.ZstdError) as error:
        raise Malformed(f"The body is not {encoding}: {error}") from None
    if len(plain) > limit:
        raise TooLarge
    return plain
