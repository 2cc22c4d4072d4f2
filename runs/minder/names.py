"""The sealed network's name server: notes every name that is asked for and knows none of them."""

from __future__ import annotations

import socket
import struct
from typing import Any, Final

PORT: Final = 53
_KINDS: Final = {
    1: "A",
    28: "AAAA",
    5: "CNAME",
    12: "PTR",
    15: "MX",
    16: "TXT",
    33: "SRV",
    65: "HTTPS",
}
_NO_SUCH_NAME: Final = 0x8183
"""Answer, recursion desired and available, NXDOMAIN."""
_EMPTY: Final = 0x8180


class NameServer:
    """Answers on 127.0.0.1:53, UDP and TCP, inside the seal."""

    def __init__(self) -> None:
        """OSError without the right to the port."""
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.bind(("127.0.0.1", PORT))
        self.udp.setblocking(False)
        self.tcp = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        self.tcp.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self.tcp.bind(("127.0.0.1", PORT))
        self.tcp.listen(16)
        self.tcp.setblocking(False)

    def read_udp(self) -> list[dict[str, Any]]:
        """Answer what is waiting; gives the names that were asked for."""
        found = []
        for _ in range(256):
            try:
                query, address = self.udp.recvfrom(4096)
            except OSError:
                break
            reply, asked = answer(query)
            if reply:
                try:
                    self.udp.sendto(reply, address)
                except OSError:
                    pass
            if asked is not None:
                found.append(asked)
        return found

    def read_tcp(self) -> list[dict[str, Any]]:
        """The same by TCP: one query a connection, with no patience for a slow one."""
        try:
            client, _ = self.tcp.accept()
        except OSError:
            return []
        with client:
            client.settimeout(0.2)
            try:
                data = client.recv(4096)
                reply, asked = answer(data[2:])
                if reply:
                    client.sendall(struct.pack("!H", len(reply)) + reply)
            except OSError:
                return []
        return [asked] if asked is not None else []


def answer(query: bytes) -> tuple[bytes, dict[str, Any] | None]:
    """The reply to a query (no such name; ``localhost`` is ours) and the attempt it stands for."""
    try:
        number, flags, questions = struct.unpack_from("!HHH", query, 0)
        if flags & 0x8000 or questions < 1:
            return b"", None
        name, end = _name(query, 12)
        kind = struct.unpack_from("!H", query, end)[0]
    except (struct.error, IndexError, ValueError):
        return b"", None
    question = query[12 : end + 4]
    local = name == "localhost" or name.endswith(".localhost")
    record = b""
    if local and kind == 1:
        record = struct.pack("!HHHIH", 0xC00C, 1, 1, 60, 4) + b"\x7f\x00\x00\x01"
    status = _EMPTY if local else _NO_SUCH_NAME
    header = struct.pack("!HHHHHH", number, status, 1, 1 if record else 0, 0, 0)
    attempt = {
        "host": name,
        "address": "",
        "port": None,
        "what": f"name {_KINDS.get(kind, kind)}",
    }
    return header + question + record, None if local else attempt


def _name(query: bytes, at: int) -> tuple[str, int]:
    """A name as text (printable ASCII only) and where it ends; ValueError for a bad one."""
    labels: list[str] = []
    while query[at]:
        length = query[at]
        if length > 63 or at + length >= len(query) or len(labels) > 127:
            raise ValueError("not a plain name")
        label = query[at + 1 : at + 1 + length]
        labels.append("".join(chr(byte) if 33 <= byte < 127 else "?" for byte in label))
        at += 1 + length
    return ".".join(labels)[:255].lower(), at + 1
