"""The sockets. A socket is only a cursor over the stored events; it owns nothing else.

Plain ASGI applications: they need no channel of their own and no group. The order is
what keeps them whole: join the hub first, then replay, then tail. An acknowledgement
window bounds what is on its way to a browser that does not read.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import parse_qs

from dashboard import reading
from dashboard.hub import BaseHub, ListHub, RunHub, Watcher
from dashboard.hubs import hubs

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]

WINDOW = 2_000
"""Events that may be on their way to a browser without its word that it has them."""
BATCH = 500
"""Events in one message, at most."""
PIECE = 240_000
"""Characters of one frame; the server sends none of more than a mebibyte."""
GONE = 4404
"""Close code: the run does not exist (any more)."""


class Socket:
    """What both sockets share: the handshake, reading in the background, one writer."""

    def __init__(self, scope: Scope, receive: Receive, send: Send) -> None:
        self.scope = scope
        self._receive = receive
        self._send = send
        self.watcher = Watcher()

    async def say(self, text: str) -> None:
        """Send one message; a long one in pieces that begin with ``+``, the last with ``=``."""
        if len(text) <= PIECE:
            await self._send({"type": "websocket.send", "text": text})
            return
        for start in range(0, len(text), PIECE):
            sign = "+" if start + PIECE < len(text) else "="
            await self._send({"type": "websocket.send", "text": sign + text[start : start + PIECE]})

    async def close(self, code: int) -> None:
        """Close the socket from our side."""
        await self._send({"type": "websocket.close", "code": code})

    def hear(self, message: dict[str, Any]) -> None:
        """Take a message of the browser; what is not understood is ignored."""

    async def step(self) -> bool:
        """Send what is due; answers whether there may be more at once."""
        raise NotImplementedError

    async def serve(self) -> None:
        """Accept, then write until the browser leaves."""
        await self._receive()
        await self._send({"type": "websocket.accept"})
        writer = asyncio.create_task(self._write())
        reader = asyncio.create_task(self._read())
        try:
            await asyncio.wait((writer, reader), return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in (writer, reader):
                task.cancel()
            results = await asyncio.gather(writer, reader, return_exceptions=True)
        for result in results:
            if isinstance(result, Exception):
                raise result

    async def _write(self) -> None:
        while True:
            self.watcher.wake.clear()
            if not await self.step():
                await self.watcher.wake.wait()

    async def _read(self) -> None:
        while True:
            message = await self._receive()
            if message["type"] == "websocket.disconnect":
                return
            try:
                heard = json.loads(message.get("text") or "")
            except (ValueError, RecursionError):
                continue
            if isinstance(heard, dict):
                self.hear(heard)


class RunSocket(Socket):
    """Follows one run from ``?after=SEQ``: its events, its state, its timeline."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, hub: RunHub, after: int) -> None:
        super().__init__(scope, receive, send)
        self.hub = hub
        self.at = after
        self.acknowledged = after
        self.state_version = 0
        self.picture_version = 0

    def hear(self, message: dict[str, Any]) -> None:
        seq = message.get("seq")
        if message.get("type") == "ack" and isinstance(seq, int):
            self.acknowledged = max(self.acknowledged, min(seq, self.at))
            self.watcher.wake.set()

    async def step(self) -> bool:
        hub = self.hub
        room = WINDOW - (self.at - self.acknowledged)
        tip = hub.tip
        if self.at < tip and room > 0:
            events = await hub.after(self.at, min(room, BATCH))
            if events:
                self.at = events[-1][0]
                listed = ",".join(text for _, text in events)
                await self.say(f'{{"type":"events","events":[{listed}]}}')
            else:  # numbers that no event has (the run was cut down): nothing to wait for
                self.at = self.acknowledged = tip
            return True
        # State and picture speak of every event up to the tip, so they come after them.
        if self.at < hub.tip:
            return False
        if self.picture_version != hub.picture.version:
            self.picture_version, text = await hub.picture.message(self.picture_version)
            await self.say(text)
            return True
        if self.state_version != hub.state_version:
            self.state_version, state = hub.state_version, hub.state
            if state is None:
                await self.close(GONE)
            else:
                told = {**state, "limits": hub.limits}
                await self.say(reading.compact({"type": "run", "run": told}))
            return True
        return False


class ListSocket(Socket):
    """Follows the list of runs: the rows that changed since the last word."""

    def __init__(self, scope: Scope, receive: Receive, send: Send, hub: ListHub) -> None:
        super().__init__(scope, receive, send)
        self.hub = hub
        self.version = 0

    async def step(self) -> bool:
        if self.version == self.hub.version:
            return False
        first, rows = not self.version, self.hub.since(self.version)
        self.version = self.hub.version
        await self.say(reading.compact({"type": "runs", "first": first, "runs": rows}))
        return True


async def run_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """``/ws/runs/<permalink>/?after=SEQ``"""
    permalink = scope["url_route"]["kwargs"]["permalink"]
    run_id = await reading.in_rows_thread(reading.find_run, permalink)
    if run_id is None:
        await refuse(receive, send)
        return
    async with hubs.run(run_id) as hub:
        await _follow(RunSocket(scope, receive, send, hub, _after(scope)), hub)


async def list_socket(scope: Scope, receive: Receive, send: Send) -> None:
    """``/ws/runs/``"""
    async with hubs.list() as hub:
        await _follow(ListSocket(scope, receive, send, hub), hub)


async def _follow(socket: Socket, hub: BaseHub) -> None:
    hub.watchers.add(socket.watcher)  # join first: what comes from now on wakes it
    try:
        await socket.serve()
    finally:
        hub.watchers.discard(socket.watcher)


async def refuse(receive: Receive, send: Send) -> None:
    """Answer a handshake with 403."""
    await receive()
    await send({"type": "websocket.close"})


def _after(scope: Scope) -> int:
    query = parse_qs(scope.get("query_string", b"").decode("latin-1"))
    text = query.get("after", ["0"])[-1]
    return int(text) if text.isdecimal() and len(text) < 16 else 0
