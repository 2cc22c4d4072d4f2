"""The fake provider: a loopback HTTP server whose model follows a script.

    connection ─▶ request ─▶ who asks? ─▶ which call, which attempt? ─▶ script: what to say
                                                                          │
    journal ◀─ request.ended ◀─ whole answer, or the aimed fault plays it ◀┘

One provider serves all dialects by path: it tells who asks, lets the script
answer, lets a fault break that answer, and journals every exchange. It never
decides by the order of calls.
"""

from __future__ import annotations

import asyncio
import json
import socket
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Self

from fakes.answer import Answer
from fakes.aside import aside, plain, turn_away
from fakes.dialect import (
    BadRequest,
    Dialect,
    ModelRequest,
    Problem,
    Reply,
    ToolCall,
    dialects,
)
from fakes.door import Door
from fakes.journal import Bodies, Exchange, Record
from fakes.ledger import Ledger, Milestones, Place
from fakes.script import Script, Stage, ToolTable
from fakes.targeting import AimedFault, CallerRule, Identity, by_markers
from fakes.wire import ClientGone, Connection, Malformed, RawRequest, TooLarge

BODY_LIMIT = 32 * 1024 * 1024
"""Largest request body in bytes; a larger one gets 413."""


class Provider:
    """A fake provider.

    `rule` tells who asks (None from it: the markers do); `record` gets each journal
    record; `bodies` is a folder for requests and answers. After `request_cap` model
    requests :attr:`capped` is set, and further ones get no answer any more.
    """

    def __init__(
        self,
        script: Script,
        *,
        tools: ToolTable,
        faults: Sequence[AimedFault] = (),
        rule: CallerRule | None = None,
        model: str = "gpt-5.4",
        record: Record,
        bodies: Path | None = None,
        body_limit: int = BODY_LIMIT,
        request_cap: int | None = None,
    ) -> None:
        self.aimed = list(faults)
        self.delivered: Counter[int] = Counter()
        self.capped = asyncio.Event()
        self.requests = 0
        self.trouble: list[Exception] = []
        """What went wrong in here (a script or fault that crashed): our fault, not the agent's."""
        self._script = script
        self._tools = tools
        self._rule = rule
        self._model = model
        self._record = record
        self._bodies = Bodies(bodies)
        self._body_limit = body_limit
        self._cap = request_cap
        self._ledger = Ledger()
        self._milestones = Milestones()
        self._connections = 0
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: set[Exchange] = set()
        self._idle: set[Connection] = set()
        self._door: Door | None = None

    async def start(
        self, host: str = "127.0.0.1", port: int = 0, sock: socket.socket | None = None
    ) -> int:
        """Listens; gives the port. `sock` is a socket that already listens."""
        self._door = Door(sock) if sock is not None else Door.at(host, port)
        self._door.on_shut = self._close_idle
        self._spawn(self._accept(self._door))
        return int(self._door.port)

    async def stop(self) -> None:
        """Ends everything; exchanges still open are journaled as ``closed: open``."""
        for exchange in list(self._open):
            exchange.ended("open", complete=False)
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._door is not None:
            self._door.close()

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *ignored: object) -> None:
        await self.stop()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        if self._door is None:
            raise RuntimeError("The provider has not been started.")
        return int(self._door.port)

    def undelivered(self) -> list[AimedFault]:
        """The faults that were aimed and never fired."""
        return [each for index, each in enumerate(self.aimed) if not self.delivered[index]]

    # Connections

    def _spawn(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, door: Door) -> None:
        while True:
            sock = await door.accept()
            self._connections += 1
            self._spawn(self._serve(Connection(sock, self._connections, self._body_limit)))

    def _close_idle(self) -> None:
        for connection in list(self._idle):
            self._spawn(connection.cut())

    async def _serve(self, connection: Connection) -> None:
        """All requests of one connection, one after the other."""
        try:
            while not connection.closed:
                self._idle.add(connection)
                raw = await connection.request()
                self._idle.discard(connection)
                if raw is None:
                    break
                await self._answer(connection, raw)
        except TooLarge:
            await turn_away(connection, 413, f"The body is over {self._body_limit} bytes.")
        except Malformed as error:
            await turn_away(connection, 400, str(error))
        except ClientGone:
            pass
        except Exception as error:
            self.trouble.append(error)
        finally:
            self._idle.discard(connection)
            await connection.close()

    async def _answer(self, connection: Connection, raw: RawRequest) -> None:
        path = raw.target.partition("?")[0].rstrip("/")
        dialect = next((d for d in dialects().values() if path.endswith(d.ending)), None)
        if raw.method == "POST" and dialect is not None:
            await self._call(connection, raw, dialect)
            return
        status, document = aside(raw, path, self._model)
        await connection.write(plain(status, document, raw.keep_alive, raw.method == "HEAD"))
        if not raw.keep_alive:
            await connection.cut()

    # Model calls

    async def _call(self, connection: Connection, raw: RawRequest, dialect: Dialect) -> None:
        try:
            request = dialect.read(raw.target, raw.headers, _object(raw.body))
        except BadRequest as error:
            problem = Problem(400, "invalid_request_error", str(error))
            document = dialect.error(problem, "req_0")
            await connection.write(plain(400, document, raw.keep_alive))
            return
        identity = (self._rule(request) if self._rule else None) or by_markers(request)
        place = self._ledger.place(identity, request)
        self.requests += 1
        index = self._aim(place, request)
        aimed = self.aimed[index].fault if index is not None else None
        exchange = Exchange(f"r{self.requests}", place, self._record, self._bodies)
        exchange.received(request, raw.wire_bytes, raw.body, connection.number, aimed)
        self._open.add(exchange)
        self._milestones.reach(place.caller, "asked")
        answer: Answer | None = None
        try:
            await self._within_cap(connection)
            reply = await self._reply(connection, request, exchange, identity)
            answer = self._prepared(connection, raw, request, dialect, exchange, reply, index)
            await (aimed.play(answer) if aimed else answer.whole())
        except ClientGone:
            pass
        finally:
            self._over(exchange, answer, identity)
        if answer is None or answer.closed is None:
            raise ClientGone

    def _over(self, exchange: Exchange, answer: Answer | None, identity: Identity) -> None:
        """The exchange has ended, one way or the other."""
        self._open.discard(exchange)
        complete = answer is not None and answer.complete
        closed = (answer.closed if answer else None) or "client-gone"
        exchange.ended(closed, complete, answer.retry_after if answer else None)
        self._ledger.over(identity, exchange.place, complete)
        if answer is not None and complete and answer.reply.final:
            self._milestones.reach(exchange.place.caller, "answered")

    def _aim(self, place: Place, request: ModelRequest) -> int | None:
        """The first fault that is aimed at this request and means something to it."""
        for index, each in enumerate(self.aimed):
            if each.target.hits(*place, request.stream) and not each.fault.why_not(
                request.dialect, request.stream
            ):
                return index
        return None

    async def _within_cap(self, connection: Connection) -> None:
        if self._cap is not None and self.requests > self._cap:
            self.capped.set()
            await connection.pause(None)

    async def _reply(
        self, connection: Connection, request: ModelRequest, exchange: Exchange, identity: Identity
    ) -> Reply:
        """What the script says, as soon as what it waits for has happened."""
        place = exchange.place
        notes = self._ledger.notes(identity)
        stage = Stage(identity, self._tools, place.call, place.attempt, notes)
        reply = self._script.reply(place.caller, request, stage)
        await self._milestones.wait(reply.after, reply.patience, connection.gone)
        prefix = dialects()[request.dialect].call_prefix
        calls = tuple(
            _named(call, f"{prefix}{exchange.id}_{number}")
            for number, call in enumerate(reply.tool_calls)
        )
        return replace(reply, tool_calls=calls)

    def _prepared(
        self,
        connection: Connection,
        raw: RawRequest,
        request: ModelRequest,
        dialect: Dialect,
        exchange: Exchange,
        reply: Reply,
        index: int | None,
    ) -> Answer:
        def fired() -> None:
            if exchange.fired is None and index is not None:
                self.delivered[index] += 1
            self._milestones.reach(exchange.place.caller, "faulted")

        assert self._door is not None
        return Answer(
            connection=connection,
            exchange=exchange,
            request=request,
            dialect=dialect,
            reply=reply,
            tools=self._tools,
            keep_alive=raw.keep_alive,
            chunks=not raw.old_protocol,
            door=self._door,
            fault=self.aimed[index].fault if index is not None else None,
            fired=fired,
        )


def _named(call: ToolCall, call_id: str) -> ToolCall:
    return call if call.id else replace(call, id=call_id)


def _object(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        raise BadRequest("The body is not JSON.") from None
    if not isinstance(value, dict):
        raise BadRequest("The body is not a JSON object.")
    return value
