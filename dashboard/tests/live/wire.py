"""A plain WebSocket client: what it sends and gets is on the wire as it stands here."""

from __future__ import annotations

import base64
import json
import os
import socket
import struct
from typing import Any

TEXT, CLOSE, PING, PONG = 1, 8, 9, 10


class Refused(Exception):
    """The handshake was answered with something else than 101."""


class Wire:
    """One connection. `read` gives the next message, joined when it came in pieces."""

    def __init__(self, port: int, path: str, **headers: str) -> None:
        self.socket = socket.create_connection(("127.0.0.1", port), timeout=60)
        self.close_code: int | None = None
        self._buffer = b""
        own = f"127.0.0.1:{port}"
        sent = {
            "Host": own,
            "Origin": f"http://{own}",
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec-WebSocket-Version": "13",
            "Sec-WebSocket-Key": base64.b64encode(os.urandom(16)).decode(),
        } | headers
        lines = [f"GET {path} HTTP/1.1", *(f"{key}: {value}" for key, value in sent.items())]
        self.socket.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        while b"\r\n\r\n" not in self._buffer:
            self._fill()
        head, _, self._buffer = self._buffer.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            self.drop()
            raise Refused(head.decode())

    def _fill(self) -> None:
        more = self.socket.recv(1 << 20)
        if not more:
            raise EOFError
        self._buffer += more

    def _take(self, count: int) -> bytes:
        while len(self._buffer) < count:
            self._fill()
        taken, self._buffer = self._buffer[:count], self._buffer[count:]
        return taken

    def _frame(self) -> tuple[int, bytes]:
        first, second = self._take(2)
        length = second & 127
        if length == 126:
            (length,) = struct.unpack(">H", self._take(2))
        elif length == 127:
            (length,) = struct.unpack(">Q", self._take(8))
        return first & 15, self._take(length)

    def read(self, *, within: float = 60) -> dict[str, Any] | None:
        """The next message; None when the server closed. TimeoutError after `within` seconds."""
        self.socket.settimeout(within)
        pieces = []
        while True:
            code, payload = self._frame()
            if code == CLOSE:
                self.close_code = struct.unpack(">H", payload[:2])[0] if payload else None
                return None
            if code == PING:
                self._write(PONG, payload)
            if code != TEXT:
                continue
            text = payload.decode()
            if text[0] in "+=":
                pieces.append(text[1:])
                if text[0] == "+":
                    continue
                text = "".join(pieces)
            message: dict[str, Any] = json.loads(text)
            return message

    def until(self, kind: str, **fields: Any) -> dict[str, Any]:
        """The next message of that type in which these fields of its body hold."""
        while True:
            message = self.read()
            assert message is not None, self.close_code
            body = message.get(kind, {})
            if message["type"] == kind and all(body.get(key) == fields[key] for key in fields):
                return message

    def acknowledge(self, seq: int) -> None:
        """Say that every event up to `seq` was taken."""
        self._write(TEXT, json.dumps({"type": "ack", "seq": seq}).encode())

    def _write(self, code: int, payload: bytes) -> None:
        mask = os.urandom(4)
        masked = bytes(byte ^ mask[at % 4] for at, byte in enumerate(payload))
        length = len(payload)
        head = struct.pack(">BB", 128 | code, 128 | length) if length < 126 else b""
        head = head or struct.pack(">BBH", 128 | code, 254, length)
        self.socket.sendall(head + mask + masked)

    def drop(self) -> None:
        """Hang up without a word."""
        self.socket.close()


def numbers(wire: Wire, up_to: int) -> list[int]:
    """The numbers of the events that come, as they come, until `up_to` is there."""
    seen: list[int] = []
    while not seen or seen[-1] < up_to:
        message = wire.read()
        assert message is not None, wire.close_code
        if message["type"] == "events":
            seen += [event["seq"] for event in message["events"]]
            wire.acknowledge(seen[-1])
    return seen
