"""What the minder reads from hostile packets and queries: facts or nothing, never a crash."""

from __future__ import annotations

import os
import socket
import struct

from hypothesis import given
from hypothesis import strategies as some

from runs.minder.channel import Inbox, send
from runs.minder.names import answer
from runs.minder.network import read_packet


def query(name: str, kind: int = 1) -> bytes:
    labels = b"".join(bytes([len(part)]) + part.encode() for part in name.split("."))
    return (
        struct.pack("!HHHHHH", 7, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack("!HH", kind, 1)
    )


def test_it_notes_a_name_and_says_that_there_is_no_such() -> None:
    reply, attempt = answer(query("Example.COM", 28))
    assert struct.unpack_from("!HH", reply) == (7, 0x8183)
    assert attempt == {"host": "example.com", "address": "", "port": None, "what": "name AAAA"}


def test_it_knows_localhost_and_does_not_note_it() -> None:
    reply, attempt = answer(query("localhost"))
    assert attempt is None
    assert reply.endswith(b"\x7f\x00\x00\x01")


def test_it_makes_odd_bytes_in_a_name_harmless() -> None:
    _, attempt = answer(query("a\x1b[31m<b>"))
    assert attempt is not None
    assert attempt["host"] == "a?[31m<b>"


@given(some.binary(max_size=600))
def test_it_survives_any_query_and_any_packet(data: bytes) -> None:
    reply, attempt = answer(data)
    assert attempt is None or len(attempt["host"]) <= 255
    assert len(reply) <= len(data) + 16
    assert read_packet(data) is None or read_packet(data)["port"] <= 65535  # type: ignore[index]


def test_it_reads_the_first_packet_of_a_connection_only() -> None:
    start = bytes([0x45]) + bytes(8) + bytes([6]) + bytes(6) + socket.inet_aton("203.0.113.1")
    tcp = struct.pack("!HH", 5000, 443) + bytes(8) + b"\x50"
    assert read_packet(start + tcp + b"\x02") == {
        "host": "",
        "address": "203.0.113.1",
        "port": 443,
        "what": "tcp",
    }
    assert read_packet(start + tcp + b"\x12") is None
    assert read_packet(start + tcp + b"\x10") is None


def test_it_carries_large_messages_and_descriptors_whole() -> None:
    ours, theirs = socket.socketpair()
    read, write = os.pipe()
    inbox, got = Inbox(theirs), []
    with ours, theirs:
        ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
        send(ours, {"what": "small"})
        send(ours, {"what": "large", "text": "é\n" * 20_000}, [write])
        os.close(write)
        while len(got) < 2:
            got += inbox.read() or []
        ours.shutdown(socket.SHUT_WR)
        assert inbox.read() is None
    assert got[0] == ({"what": "small"}, [])
    message, (descriptor,) = got[1]
    assert message["text"] == "é\n" * 20_000
    os.write(descriptor, b"through")
    assert os.read(read, 10) == b"through"
    os.close(descriptor)
    os.close(read)
