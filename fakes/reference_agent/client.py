"""A raw HTTP/1.1 client on asyncio, strict about how an answer ends.

It hides nothing: a body that is shorter than it said, a chunk that is cut, a
reset and a refusal are each a :class:`CallFailed`. One connection a request.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Any
from urllib.parse import urlsplit

from fakes.reference_agent.trouble import CallFailed

LIMIT = 1 << 20
"""Longest head or line of a chunk's size, in bytes."""


@dataclass(slots=True)
class Response:
    """The head of an answer, and its body as it comes."""

    status: int
    headers: Mapping[str, str]
    reader: asyncio.StreamReader

    async def chunks(self) -> AsyncIterator[bytes]:
        """The body in pieces; CallFailed when it ends before it should."""
        if "chunked" in self.headers.get("transfer-encoding", "").lower():
            async for piece in self._chunked():
                yield piece
        elif "content-length" in self.headers:
            left = int(self.headers["content-length"])
            while left:
                piece = await self.reader.read(min(left, 65536))
                if not piece:
                    raise CallFailed("stream", f"the body is {left} bytes short")
                left -= len(piece)
                yield piece
        else:
            while piece := await self.reader.read(65536):
                yield piece

    async def _chunked(self) -> AsyncIterator[bytes]:
        while True:
            line = await self.reader.readline()
            try:
                size = int(line.split(b";")[0], 16)
            except ValueError:
                raise CallFailed("stream", "the body was cut between its chunks") from None
            if size == 0:
                await self.reader.readline()
                return
            try:
                piece = await self.reader.readexactly(size + 2)
            except asyncio.IncompleteReadError:
                raise CallFailed("stream", "the body was cut inside a chunk") from None
            yield piece[:-2]

    async def all(self, limit: int = 1 << 26) -> bytes:
        """The whole body, at most `limit` bytes."""
        parts: list[bytes] = []
        size = 0
        async for piece in self.chunks():
            parts.append(piece)
            size += len(piece)
            if size > limit:
                raise CallFailed("stream", "the body is too large", retryable=False)
        return b"".join(parts)

    def retry_after(self) -> float | None:
        """Seconds that the provider asks to wait (a number or a date), None without a wish."""
        value = self.headers.get("retry-after", "").strip()
        if not value:
            return None
        try:
            return max(0.0, float(value))
        except ValueError:
            pass
        try:
            when = parsedate_to_datetime(value)
        except ValueError:
            return None
        return max(0.0, (when - datetime.now(UTC)).total_seconds())


class Exchange:
    """One POST: ``async with Exchange(…) as response``; the connection is closed after it."""

    def __init__(self, url: str, headers: Mapping[str, str], body: Mapping[str, Any]) -> None:
        self.url = urlsplit(url)
        self.headers = headers
        self.body = json.dumps(body).encode()
        self._writer: asyncio.StreamWriter | None = None

    async def __aenter__(self) -> Response:
        try:
            return await self._ask()
        except BaseException as error:
            await self._close()
            if isinstance(error, ConnectionRefusedError):
                raise CallFailed("refused", "the connection was refused") from None
            if isinstance(error, OSError | asyncio.IncompleteReadError | ValueError):
                raise CallFailed(
                    "stream", f"no head of an answer: {type(error).__name__}"
                ) from None
            raise

    async def __aexit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        await self._close()
        if isinstance(error, OSError) and not isinstance(error, TimeoutError):
            raise CallFailed("stream", f"the connection broke: {type(error).__name__}") from None

    async def _ask(self) -> Response:
        host, port = self.url.hostname or "127.0.0.1", self.url.port or 80
        reader, self._writer = await asyncio.open_connection(host, port, limit=LIMIT)
        given = {
            "host": f"{host}:{port}",
            "content-type": "application/json",
            "content-length": str(len(self.body)),
            "connection": "close",
            **self.headers,
        }
        head = "".join(f"{name}: {value}\r\n" for name, value in given.items())
        target = (self.url.path or "/") + (f"?{self.url.query}" if self.url.query else "")
        self._writer.write(f"POST {target} HTTP/1.1\r\n{head}\r\n".encode() + self.body)
        await self._writer.drain()
        lines = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        headers = {
            name.strip().lower(): value.strip()
            for name, _, value in (line.partition(":") for line in lines[1:] if line)
        }
        return Response(int(lines[0].split()[1]), headers, reader)

    async def _close(self) -> None:
        if self._writer is not None:
            self._writer.close()
            try:
                await self._writer.wait_closed()
            except OSError:
                pass


async def server_sent_events(response: Response) -> AsyncIterator[tuple[str, str]]:
    """The events of a stream as (name, data); an unfinished last one is dropped, as clients do.

    Comments (keep-alives) come as (":", text) so that the caller can tell bytes from content.
    """
    rest = b""
    name = ""
    data: list[str] = []
    async for piece in response.chunks():
        rest += piece
        *lines, rest = rest.split(b"\n")
        for raw in lines:
            line = raw.rstrip(b"\r").decode("utf-8", "replace")
            if not line:
                if data:
                    yield name, "\n".join(data)
                name, data = "", []
            elif line.startswith(":"):
                yield ":", line[1:]
            elif line.startswith("event:"):
                name = line[6:].strip()
            elif line.startswith("data:"):
                data.append(line[5:].removeprefix(" "))
