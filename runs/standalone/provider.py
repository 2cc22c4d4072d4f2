"""The script's provider: takes a request and plays the tape that answers it."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import io
import json
import socket
import struct
import sys
import threading
import time
from collections.abc import Iterable
from typing import Any

from runs.standalone.conversation import caller_of, filled, items_of, tape_for
from runs.standalone.given import TAPES

STARTED = time.monotonic()
LOCK = threading.Condition()
REACHED: set[tuple[str | None, str]] = set()  # (caller, "asked" or "answered")
SEEN: dict[str, tuple[str, int, int]] = {}  # caller → (its last request, call, attempt)
TRIES: list[list[Any]] = []  # caller, call, attempt, fault, begin, end


def place_of(caller: str, body: dict[str, Any]) -> tuple[int, int]:
    """Which call of this caller it is and which attempt: the same conversation is tried again."""
    mark = hashlib.sha256(json.dumps(items_of(body), sort_keys=True).encode()).hexdigest()
    with LOCK:
        last, call, attempt = SEEN.get(caller, ("", 0, 0))
        call, attempt = (call, attempt + 1) if last == mark else (call + 1, 1)
        SEEN[caller] = mark, call, attempt
    return call, attempt


def reach(caller: str | None, what: str) -> None:
    """A milestone that others may wait for."""
    with LOCK:
        REACHED.add((caller, what))
        LOCK.notify_all()


def play(
    connection: socket.socket, caller: str | None, tape: Iterable[Any], children: list[str]
) -> None:
    """Send what the tape says."""
    for what, *value in tape:
        if what == "after":
            with LOCK:
                LOCK.wait_for(functools.partial(REACHED.issuperset, value[0]), value[1])
        elif what == "answered":
            reach(caller, what)
        elif what == "send":
            connection.sendall(filled(value[0], children))
        elif what == "pause":
            time.sleep(value[0])
        elif what == "hold":
            connection.recv(1)
        elif what == "reset":
            time.sleep(0.05)
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))


def read(file: io.BufferedReader) -> tuple[str, str, bytes]:
    """Method, path and body of one request; empty when there is none."""
    first, headers = file.readline().decode("latin-1").split(" "), {}
    while line := file.readline().decode("latin-1").strip():
        name, _, value = line.partition(":")
        headers[name.lower()] = value.strip()
    if len(first) < 2:
        return "", "", b""
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body, size = b"", 1
        while size:
            size = int(file.readline().split(b";")[0] or b"0", 16)
            body += file.read(size)
            file.readline()
    else:
        body = file.read(int(headers.get("content-length", 0)))
    return first[0], first[1].partition("?")[0], body


def answer(connection: socket.socket, body: dict[str, Any]) -> None:
    """One request of a model: its caller's tape, and a line of it for who watches."""
    caller = caller_of(body)
    if caller is None:
        tape = TAPES[max(TAPES)][-1]["stream" if body.get("stream") else "plain"][-1]
        return play(connection, None, [one for one in tape if one[0] == "send"], [])
    call, attempt = place_of(caller, body)
    begin = time.monotonic() - STARTED
    tape, children = tape_for(caller, body, attempt)
    fault = next((value[0] for what, *value in tape if what == "fault"), "")
    row = [caller or "parent", call, attempt, fault, begin, None]
    TRIES.append(row)
    print(f"{begin:8.3f} s  {row[0]:>8}  call {call} attempt {attempt}  {fault or 'whole'}",
          file=sys.stderr, flush=True)  # fmt: skip
    reach(caller, "asked")
    try:
        play(connection, caller, tape, children)
    finally:
        row[5] = time.monotonic() - STARTED


def serve(connection: socket.socket) -> None:
    """One request of one connection."""
    with connection, contextlib.suppress(OSError):
        method, path, raw = read(connection.makefile("rb"))
        ending = path.rstrip("/").rpartition("/")[2]
        if method == "POST" and ending in ("responses", "completions", "messages"):
            answer(connection, json.loads(raw or b"{}"))
        elif method:
            body = json.dumps({"object": "list", "data": [{"id": "gpt-5.4", "object": "model"}]})
            head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n"
            connection.sendall(f"{head}content-length: {len(body)}\r\n\r\n{body}".encode())


def listen() -> int:
    """Serve on a free port of 127.0.0.1 until the script ends; gives the port."""
    door = socket.create_server(("127.0.0.1", 0))

    def accept() -> None:
        while True:
            threading.Thread(target=serve, args=(door.accept()[0],), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    return int(door.getsockname()[1])
