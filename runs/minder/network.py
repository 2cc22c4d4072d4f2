"""The sealed network: every address leads back to ``lo``, is refused at once, and is noted.

A local route for all addresses makes a connection to anywhere end in our own
stack, where nobody listens: the agent gets "refused" without a wait. A packet
socket sees each first packet (TCP SYN, UDP) that is not for loopback.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import ipaddress
import os
import socket
import struct
from typing import Any, Final

_ADD_ROUTE: Final = 24
_REQUEST_FLAGS: Final = 0x1 | 0x4 | 0x400 | 0x100
_LOCAL_TABLE: Final = 255
_ATTACH_FILTER: Final = 26
_EVERY_PROTOCOL: Final = 0x0003
_OUTGOING: Final = 4
_GET_FLAGS: Final = 0x8913
_SET_FLAGS: Final = 0x8914
_UP: Final = 0x1
TCP: Final = 6
UDP: Final = 17


def loopback_up() -> None:
    """Bring ``lo`` up."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        request = struct.pack("16sH14x", b"lo", 0)
        flags = struct.unpack("16sH14x", fcntl.ioctl(sock, _GET_FLAGS, request))[1]
        if not flags & _UP:
            fcntl.ioctl(sock, _SET_FLAGS, struct.pack("16sH14x", b"lo", flags | _UP))


def route_everything_here() -> None:
    """Make every address of both families local; OSError without the right to, or where
    another interface is up: then this is not a network of our own, but the machine's."""
    if _leads_out():
        raise OSError(errno.EPERM, "this network is not sealed")
    _add_route(socket.AF_INET)
    try:
        _add_route(socket.AF_INET6)
    except OSError:
        pass  # a kernel without IPv6: there is nothing to reach by it either


def _leads_out() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        for _, name in socket.if_nameindex():
            request = struct.pack("16sH14x", name.encode(), 0)
            flags = struct.unpack("16sH14x", fcntl.ioctl(sock, _GET_FLAGS, request))[1]
            if name != "lo" and flags & _UP:
                return True
    return False


def _add_route(family: int) -> None:
    loopback = socket.if_nametoindex("lo")
    # family, prefix, source prefix, tos, table, protocol (boot), scope (host), type (local), flags
    route = struct.pack("=BBBBBBBBI", family, 0, 0, 0, _LOCAL_TABLE, 3, 254, 2, 0)
    device = struct.pack("=HHI", 8, 4, loopback)
    body = route + device
    header = struct.pack("=IHHII", 16 + len(body), _ADD_ROUTE, _REQUEST_FLAGS, 1, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE) as sock:
        sock.bind((0, 0))
        sock.send(header + body)
        answer = sock.recv(4096)
    code = struct.unpack_from("=i", answer, 16)[0]
    if code not in (0, -errno.EEXIST):
        raise OSError(-code, os.strerror(-code))


class _Instruction(ctypes.Structure):
    _fields_ = [
        ("code", ctypes.c_uint16),
        ("yes", ctypes.c_uint8),
        ("no", ctypes.c_uint8),
        ("value", ctypes.c_uint32),
    ]


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_uint16), ("first", ctypes.POINTER(_Instruction))]


def _not_loopback() -> list[tuple[int, int, int, int]]:
    """Packet filter: drop what is for 127/8 or ::1; the provider's traffic costs nothing."""
    load_byte, load_word, equal, give, mask = 0x30, 0x20, 0x15, 0x06, 0x54
    return [
        (load_byte, 0, 0, 0),
        (mask, 0, 0, 0xF0),
        (equal, 0, 3, 0x40),  # IPv4: look at the first byte of its destination
        (load_byte, 0, 0, 16),
        (equal, 10, 0, 127),
        (equal, 8, 8, 0x100),  # never equal: keep
        (equal, 0, 8, 0x60),  # IPv6, else drop
        (load_word, 0, 0, 24),
        (equal, 0, 5, 0),
        (load_word, 0, 0, 28),
        (equal, 0, 3, 0),
        (load_word, 0, 0, 36),
        (equal, 2, 1, 1),
        (give, 0, 0, 0),
        (give, 0, 0, 96),
        (give, 0, 0, 0),
    ]


class Lookout:
    """Sees the first packets to anywhere but loopback."""

    def __init__(self) -> None:
        """OSError without the right to look at packets."""
        self.socket = socket.socket(
            socket.AF_PACKET, socket.SOCK_DGRAM, socket.htons(_EVERY_PROTOCOL)
        )
        rows = _not_loopback()
        code = (_Instruction * len(rows))(*(_Instruction(*row) for row in rows))
        program = _Program(len(rows), ctypes.cast(code, ctypes.POINTER(_Instruction)))
        self.socket.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, bytes(program))
        self.socket.bind(("lo", _EVERY_PROTOCOL))
        self.socket.setblocking(False)

    def read(self) -> list[dict[str, Any]]:
        """Attempts since the last time, at most a few hundred at once."""
        found = []
        for _ in range(256):
            try:
                packet, address = self.socket.recvfrom(96)
            except OSError:
                break
            attempt = read_packet(packet) if address[2] == _OUTGOING else None
            if attempt is not None:
                found.append(attempt)
        return found


def read_packet(packet: bytes) -> dict[str, Any] | None:
    """An IP packet's destination when it begins something (TCP SYN, UDP), else None."""
    try:
        if packet[0] >> 4 == 4:
            protocol, start = packet[9], (packet[0] & 0xF) * 4
            target: str = str(ipaddress.IPv4Address(packet[16:20]))
        else:
            protocol, start = packet[6], 40
            target = str(ipaddress.IPv6Address(packet[24:40]))
        port = struct.unpack_from("!H", packet, start + 2)[0]
        if protocol == TCP and packet[start + 13] & 0x12 == 0x02:
            return {"host": "", "address": target, "port": port, "what": "tcp"}
        if protocol == UDP:
            return {"host": "", "address": target, "port": port, "what": "udp"}
    except (IndexError, struct.error, ValueError):
        pass
    return None
