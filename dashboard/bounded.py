"""No request is kept beyond a limit: Daphne takes each one whole before anybody reads it.

What comes beyond the limit is let go, and the request goes on without a body and with a mark,
by which the first gate answers it in words. One that stops in the middle is told that it did,
before its connection is closed; so is one whose address or header is too long.
"""

from __future__ import annotations

import io
from typing import Any

from daphne import http_protocol
from twisted.web import http

from dashboard.guard import TOO_LARGE

LARGEST = 65 << 20
"""Bytes of one request's body: what the API takes, and a little."""


class BoundedRequest(http_protocol.WebRequest):  # type: ignore[misc]  # Daphne has no types
    """One request."""

    _left = LARGEST

    def handleContentChunk(self, data: bytes) -> None:
        """Keep a piece of the body while there is room."""
        self._left -= len(data)
        if self._left >= 0:
            super().handleContentChunk(data)

    def requestReceived(self, *line: bytes) -> None:
        """All of it came."""
        self.requestHeaders.removeHeader(TOO_LARGE)
        if self._left < 0:
            self.content = io.BytesIO()
            self.requestHeaders.setRawHeaders(TOO_LARGE, [b"1"])
        super().requestReceived(*line)


_WORDS = b"The request stopped in the middle. Try again.\n"
STALLED = (
    b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Type: text/plain\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(_WORDS), _WORDS)
)


class BoundedChannel(http.HTTPChannel):
    """One connection: a line of a request's head is at most `MAX_LENGTH` bytes."""

    totalHeadersSize = 2 * http.HTTPChannel.MAX_LENGTH
    """More than one line may have, so that a line that is too long is answered as one."""
    _refused = False

    def lineLengthExceeded(self, line: bytes) -> None:
        """Say so, then read to nowhere until the client has gone or its time is up."""
        is_address = line.partition(b" ")[0].isalpha()
        status = b"414 URI Too Long" if is_address else b"431 Request Header Fields Too Large"
        what = "The address" if is_address else "A header of the request"
        words = f"{what} is longer than {self.MAX_LENGTH} bytes.\nName fewer things in it.\n"
        head = b"Content-Type: text/plain; charset=utf-8\r\nCache-Control: no-store\r\n"
        length = b"Content-Length: %d\r\nConnection: close\r\n\r\n" % len(words)
        transport: Any = self.transport
        transport.write(b"HTTP/1.1 %b\r\n%b%b%b" % (status, head, length, words.encode()))
        self._refused = True
        transport.loseWriteConnection()

    def dataReceived(self, data: bytes) -> None:
        """Take what comes, unless it was refused."""
        if not self._refused:
            super().dataReceived(data)  # type: ignore[no-untyped-call]  # Twisted has no types there

    def timeoutConnection(self) -> None:
        """Nothing came for too long: say so if a request had begun, and close it."""
        if not self._refused and len(self.requests) == 1 and not self.requests[0].startedWriting:
            transport: Any = self.transport
            transport.write(STALLED)
        super().timeoutConnection()  # type: ignore[no-untyped-call]  # Twisted has no types there


def install() -> None:
    """Let Daphne, which runs in this process, make such requests and connections."""
    requests: Any = http_protocol
    connections: Any = http
    requests.WebRequest = BoundedRequest
    connections.HTTPChannel = BoundedChannel
