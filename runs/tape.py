"""One answer of a loopback provider on a tape: what is done with the connection, in order."""

from __future__ import annotations

import asyncio
from typing import Any

from fakes.wire import ClientGone
from runs.errors import HarnessError

MOST_BYTES = 200_000
LONGEST = 600.0
"""Seconds that one answer may take; what lasts longer is held open."""
Tape = list[tuple[Any, ...]]


class NotPossible(HarnessError):
    """This run cannot be made a script; says why."""


class Recorder:
    """Stands for the connection: writes down what is done with it."""

    def __init__(self) -> None:
        self.tape: Tape = []
        self.closed = ""
        self.gone = asyncio.Event()
        self._size = 0
        self._paused = 0.0

    async def write(self, data: bytes) -> None:
        """Bytes that leave."""
        self._size += len(data)
        if self._size > MOST_BYTES:
            raise NotPossible("Its answers are too long for a script.")
        if self.tape and self.tape[-1][0] == "send":
            self.tape[-1] = ("send", self.tape[-1][1] + data)
        else:
            self.tape.append(("send", data))

    async def pause(self, seconds: float | None) -> None:
        """Time that passes; for ever ends the tape."""
        self._paused += seconds or 0.0
        if seconds is None or self._paused > LONGEST:
            self.tape.append(("hold",))
            raise ClientGone
        if seconds > 0:
            self.tape.append(("pause", seconds))

    async def cut(self) -> None:
        """A clean end."""
        self.closed = "cut"
        self.tape.append(("close",))

    async def reset(self) -> None:
        """A reset."""
        self.closed = "reset"
        self.tape.append(("reset",))
