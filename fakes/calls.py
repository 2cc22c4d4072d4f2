"""Model calls: from a whole request to the end of its answer.

    request ─▶ who asks? ─▶ which call, which attempt? ─▶ script: what to say
                                                            │
    journal ◀─ request.ended ◀─ whole, or the aimed fault ◀─┘ plays it

Never decides by the order of calls. Listening is the provider's business (provider.py).
"""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Coroutine, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from fakes.answer import Answer
from fakes.aside import plain
from fakes.dialect import BadRequest, Dialect, ModelRequest, Problem, Reply, ToolCall
from fakes.door import Door
from fakes.fault import Fault
from fakes.journal import Bodies, Exchange, Record
from fakes.ledger import Ledger, Milestones, Place
from fakes.refusals import Refusals
from fakes.script import Script, Stage, ToolTable
from fakes.targeting import AimedFault, CallerRule, Identity, by_markers
from fakes.wire import ClientGone, Connection, RawRequest


@dataclass(frozen=True, slots=True)
class Call:
    """One request with everything that is known about it. `index`: of the fault aimed at it."""

    connection: Connection
    raw: RawRequest
    request: ModelRequest
    dialect: Dialect
    identity: Identity
    exchange: Exchange
    index: int | None
    fault: Fault | None


class ModelCalls:
    """Answers model calls by a script, breaks the aimed ones, journals all of them."""

    def __init__(
        self,
        script: Script,
        *,
        tools: ToolTable,
        faults: Sequence[AimedFault] = (),
        rule: CallerRule | None = None,
        record: Record,
        bodies: Path | None = None,
        request_cap: int | None = None,
    ) -> None:
        self.aimed = list(faults)
        self.delivered: Counter[int] = Counter()
        """By index of the fault in `aimed`: how many answers it acted on."""
        self.capped = asyncio.Event()
        self.follows = True
        """Whether the agent follows redirects; the fault `refused` depends on it."""
        self.requests = 0
        self.refusals: Refusals | None = None
        """Counts connections that a shut port refused; set it where the network is sealed."""
        self._script = script
        self._tools = tools
        self._rule = rule
        self._record = record
        self._bodies = Bodies(bodies)
        self._cap = request_cap
        self._ledger = Ledger()
        self._milestones = Milestones()
        self._tasks: set[asyncio.Task[None]] = set()
        self._open: set[Exchange] = set()
        self._door: Door | None = None

    def undelivered(self) -> list[AimedFault]:
        """The faults that were aimed and never fired."""
        return [each for index, each in enumerate(self.aimed) if not self.delivered[index]]

    def _spawn(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    @property
    def _listening(self) -> Door:
        if self._door is None:
            raise RuntimeError("The provider has not been started.")
        return self._door

    async def answer(self, connection: Connection, raw: RawRequest, dialect: Dialect) -> None:
        """Answers one request; ClientGone when the connection ended before the answer did."""
        try:
            request = dialect.read(raw.target, raw.headers, _object(raw.body))
        except BadRequest as error:
            problem = Problem(400, "invalid_request_error", str(error))
            document = dialect.error(problem, "req_0")
            await connection.write(plain(400, document, raw.keep_alive))
            return
        call = self._placed(connection, raw, dialect, request)
        answer: Answer | None = None
        try:
            await self._within_cap(connection)
            answer = self._prepared(call, await self._reply(call))
            await (call.fault.play(answer) if call.fault else answer.whole())
        except ClientGone:
            pass
        finally:
            self._over(call, answer)
        if answer is None or answer.closed is None:
            raise ClientGone

    def _placed(
        self, connection: Connection, raw: RawRequest, dialect: Dialect, request: ModelRequest
    ) -> Call:
        """Who asks, which call and attempt it is, and which fault is aimed at it."""
        identity = (self._rule(request) if self._rule else None) or by_markers(request)
        if identity.since:
            request = replace(request, turns=request.turns[identity.since :])
        place = self._ledger.place(identity, request)
        index = self._aim(place, request)
        fault = self.aimed[index].fault if index is not None else None
        exchange = self._exchange(place)
        exchange.received(request, raw.wire_bytes, raw.body, connection.number, fault)
        self._open.add(exchange)
        self._milestones.reach(place.caller, "asked")
        return Call(connection, raw, request, dialect, identity, exchange, index, fault)

    def _exchange(self, place: Place) -> Exchange:
        self.requests += 1
        return Exchange(f"r{self.requests}", place, self._record, self._bodies)

    def _over(self, call: Call, answer: Answer | None) -> None:
        """The exchange has ended, one way or the other."""
        self._open.discard(call.exchange)
        complete = answer is not None and answer.complete
        closed = (answer.closed if answer else None) or "client-gone"
        call.exchange.ended(closed, complete, answer.retry_after if answer else None)
        self._ledger.over(call.identity, call.exchange.place, complete)
        if answer is not None and complete and answer.reply.final:
            self._milestones.reach(call.exchange.place.caller, "answered")

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

    async def _reply(self, call: Call) -> Reply:
        """What the script says, as soon as what it waits for has happened."""
        place = call.exchange.place
        notes = self._ledger.notes(call.identity)
        stage = Stage(call.identity, self._tools, place.call, place.attempt, notes)
        reply = self._script.reply(place.caller, call.request, stage)
        await self._milestones.wait(reply.after, reply.patience, call.connection.gone)
        prefix = f"{call.dialect.call_prefix}{call.exchange.id}"
        named = (_named(each, f"{prefix}_{n}") for n, each in enumerate(reply.tool_calls))
        return replace(reply, tool_calls=tuple(named))

    def _prepared(self, call: Call, reply: Reply) -> Answer:
        def fired() -> None:
            if call.exchange.fired is None and call.index is not None:
                self.delivered[call.index] += 1
            self._milestones.reach(call.exchange.place.caller, "faulted")

        def shut(seconds: float) -> None:
            self._listening.shut(seconds)
            if self.refusals is not None and call.fault is not None:
                self._spawn(self._count(self.refusals, call, call.fault))

        return Answer(
            connection=call.connection,
            exchange=call.exchange,
            request=call.request,
            dialect=call.dialect,
            reply=reply,
            tools=self._tools,
            keep_alive=call.raw.keep_alive,
            chunks=not call.raw.old_protocol,
            door=self._listening,
            fault=call.fault,
            fired=fired,
            shut=shut,
            follows=self.follows,
        )

    async def _count(self, refusals: Refusals, call: Call, fault: Fault) -> None:
        """Journals each connection that the shut port refuses as an attempt of this caller."""
        known = refusals()
        while self._listening.is_shut:
            await asyncio.sleep(0.01)
            for _ in range(refusals() - known):
                known += 1
                exchange = self._exchange(self._ledger.again(call.identity))
                exchange.received(call.request, 0, b"", 0, fault)
                exchange.fire(fault, "connection refused, as counted by the kernel")
                exchange.ended("refused", complete=False)


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
