"""The journal: what the provider says about each exchange, and the bodies it keeps.

Records are dicts ``{"what": …, "at": epoch seconds, …}`` with the keys of the event
kinds ``request.received``, ``response.started``, ``fault.fired``, ``request.ended``.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from fakes.dialect import ModelRequest
from fakes.fault import Fault, class_of_status
from fakes.ledger import Place
from fakes.settings import stored
from fakes.spoken import spoken
from fakes.targeting import by_markers

Record = Callable[[dict[str, Any]], None]
Closed = Literal["ended", "cut", "reset", "refused", "client-gone", "open"]

SECRET = ("authorization", "cookie", "api-key", "apikey", "token", "secret")
KEPT_EACH = 1024 * 1024
"""Bytes kept of each body."""
KEPT_ALL = 128 * 1024 * 1024
"""Bytes kept of all bodies together."""


def public_headers(headers: Mapping[str, str]) -> dict[str, str]:
    """The headers with credentials removed (their names stay)."""
    return {
        name: "(removed)" if any(word in name for word in SECRET) else value[:4096]
        for name, value in headers.items()
    }


class Bodies:
    """Keeps requests and answers as files, bounded; does nothing without a folder."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder
        self._left = KEPT_ALL
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)

    def keep(self, name: str, data: bytes) -> str:
        """Stores the data, cut to the bound; gives the name of the file, or an empty text."""
        if self._folder is None or self._left <= 0:
            return ""
        part = data[: min(KEPT_EACH, self._left)]
        self._left -= len(part)
        (self._folder / name).write_bytes(part)
        return name


class Exchange:
    """One request and its answer. Counts what is sent and tells the journal."""

    def __init__(self, request_id: str, place: Place, record: Record, bodies: Bodies) -> None:
        self.id = request_id
        self.place = place
        self.start = time.time()
        self.status = 0
        self.bytes = 0
        """Of the answer's body, without headers and the framing of chunks."""
        self.events = 0
        self.fired: Fault | None = None
        self.first_byte: float | None = None
        self._said: dict[str, Any] = {
            "call": place.call,
            "attempt": place.attempt,
            "caller": place.caller,
            "turn": place.call,
            "request": request_id,
        }
        self._record = record
        self._bodies = bodies
        self._sent = bytearray()
        self._model = ""
        self._over = False

    def _say(self, what: str, at: float, **more: Any) -> None:
        self._record({"what": what, "at": at, **self._said, **more})

    def received(
        self, request: ModelRequest, size: int, body: bytes, connection: int, aimed: Fault | None
    ) -> None:
        """The whole request is here (`size`: bytes on the wire, `body`: decoded)."""
        self._model = request.model[:200]
        who = by_markers(request)
        self._say(
            "request.received",
            self.start,
            task=who.key if who.depth > 0 else "",
            model=self._model,
            stream=request.stream,
            dialect=request.dialect,
            bytes=size,
            tools=list(request.tools),
            path=request.path,
            headers=public_headers(request.headers),
            connection=connection,
            body=self._bodies.keep(f"{self.id}.request.json", body),
            conversation=spoken(request.turns),
            fault_aimed=aimed.name if aimed else "",
        )

    def started(self, status: int) -> None:
        """The first byte of the answer leaves."""
        if self.first_byte is None:
            now = time.time()
            self.first_byte, self.status = now - self.start, status
            self._say("response.started", now, status=status)

    def sent(self, body: bytes, events: int) -> None:
        """A part of the body has left."""
        self.bytes += len(body)
        self.events += events
        if len(self._sent) < KEPT_EACH:
            self._sent += body[: KEPT_EACH - len(self._sent)]

    def fire(self, fault: Fault, mark: str) -> None:
        """The fault has acted; it may say so several times."""
        self.fired = fault
        self._say(
            "fault.fired",
            time.time(),
            fault=fault.name,
            mark=mark,
            bytes=self.bytes,
            events=self.events,
            settings=stored(fault),
        )

    def ended(self, closed: Closed, complete: bool, retry_after: float | None = None) -> None:
        """The exchange is over; said once."""
        if self._over:
            return
        self._over = True
        now = time.time()
        self._say(
            "request.ended",
            now,
            status=self.status,
            complete=complete,
            closed=closed,
            bytes=self.bytes,
            events=self.events,
            fault=self.fired.name if self.fired else "",
            retry_after=retry_after,
            model=self._model,
            start=self.start,
            duration=now - self.start,
            first_byte=self.first_byte,
            error_class="" if complete else self._error_class(closed),
            response=self._bodies.keep(f"{self.id}.response", bytes(self._sent)),
        )

    def _error_class(self, closed: Closed) -> str:
        if self.fired and self.fired.error_class():
            return self.fired.error_class()
        return class_of_status(self.status) or ("aborted" if closed == "client-gone" else "stream")
