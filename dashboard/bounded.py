"""No request is kept beyond a limit: Daphne takes each one whole before anybody reads it.

What comes beyond the limit is let go, and the request goes on without a body and with a mark,
by which the first gate answers it in words.
"""

from __future__ import annotations

import io
from typing import Any

from daphne import http_protocol

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


def install() -> None:
    """Let Daphne, which runs in this process, make such requests."""
    protocol: Any = http_protocol
    protocol.WebRequest = BoundedRequest
