"""What a connection is told that stops in the middle of a request."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from daphne import http_protocol
from twisted.internet.task import Clock
from twisted.internet.testing import StringTransport
from twisted.web import http

from dashboard import bounded


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """As under Daphne; put back afterwards."""
    monkeypatch.setattr(http, "HTTPChannel", http.HTTPChannel)
    monkeypatch.setattr(http_protocol, "WebRequest", http_protocol.WebRequest)
    bounded.install()
    yield


def _after(*pieces: bytes) -> StringTransport:
    """The transport of a connection that sent these and then nothing for a minute."""
    made: Any = http.HTTPFactory().protocol()
    channel, clock = made._channel, Clock()
    channel.requestFactory = http.Request
    channel.callLater = clock.callLater
    channel.timeOut = 60
    transport = StringTransport()
    channel.makeConnection(transport)
    for piece in pieces:
        channel.dataReceived(piece)
    clock.advance(61)
    return transport


@pytest.mark.usefixtures("installed")
@pytest.mark.parametrize(
    "pieces",
    [
        [b"GET / HTTP/1.1\r\n"],
        [b"GET / HTTP/1.1\r\nHost: x\r\n"],
        [b"POST /import/ HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n", b"abc"],
    ],
)
def test_a_request_that_stops_in_the_middle_is_told_408(pieces: list[bytes]) -> None:
    transport = _after(*pieces)
    assert transport.value().startswith(b"HTTP/1.1 408 ") and transport.disconnecting
    head, _, body = transport.value().partition(b"\r\n\r\n")
    assert f"Content-Length: {len(body)}".encode() in head


@pytest.mark.usefixtures("installed")
def test_a_connection_that_asks_nothing_is_closed_in_silence() -> None:
    transport = _after()
    assert transport.value() == b"" and transport.disconnecting
