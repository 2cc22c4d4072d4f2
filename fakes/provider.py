"""The fake provider: a loopback HTTP server whose model follows a script.

    connection ─▶ request ─▶ model call (calls.py): script, fault, journal
                         └─▶ anything else (aside.py): model list, token counts

One provider serves all dialects by path, on any number of connections at once.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from fakes.aside import aside, plain, turn_away
from fakes.calls import ModelCalls
from fakes.dialect import dialects
from fakes.door import Door
from fakes.journal import Record
from fakes.script import Script, ToolTable
from fakes.targeting import AimedFault, CallerRule
from fakes.wire import ClientGone, Connection, Malformed, RawRequest, TooLarge

BODY_LIMIT = 32 * 1024 * 1024
"""Largest request body in bytes; a larger one gets 413."""
QUIET_LOOKS = 3
"""Looks in a row at which no connection was left."""


class Provider(ModelCalls):
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
        super().__init__(
            script,
            tools=tools,
            faults=faults,
            rule=rule,
            record=record,
            bodies=bodies,
            request_cap=request_cap,
        )
        self.trouble: list[Exception] = []
        """What went wrong in here (a script or fault that crashed): our fault, not the agent's."""
        self._model = model
        self._body_limit = body_limit
        self._connections = 0
        self._idle: set[Connection] = set()
        self._served: set[Connection] = set()

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

    async def quiet(self, patience: float) -> None:
        """Until every connection has ended, at most `patience` seconds.

        For the time after a client's end: what it had sent is still taken and journaled.
        """
        looks, until = 0, asyncio.get_running_loop().time() + patience
        while looks < QUIET_LOOKS and asyncio.get_running_loop().time() < until:
            await asyncio.sleep(0.005)  # time to accept what still waits at the door
            looks = 0 if self._served else looks + 1

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(self, *ignored: object) -> None:
        await self.stop()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._listening.port)

    # Connections

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
        self._served.add(connection)
        try:
            while not connection.closed:
                self._idle.add(connection)
                raw = await connection.request()
                self._idle.discard(connection)
                if raw is None:
                    break
                await self._turn(connection, raw)
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
            self._served.discard(connection)

    async def _turn(self, connection: Connection, raw: RawRequest) -> None:
        path = raw.target.partition("?")[0].rstrip("/")
        dialect = next((d for d in dialects().values() if d.serves(path)), None)
        if raw.method == "POST" and dialect is not None:
            await self.answer(connection, raw, dialect)
            return
        status, document = aside(raw, path, self._model)
        await connection.write(plain(status, document, raw.keep_alive, raw.method == "HEAD"))
        if not raw.keep_alive:
            await connection.cut()
