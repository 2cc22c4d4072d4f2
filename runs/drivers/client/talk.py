"""Our own client's transport: it tells an owner what arrives, and does what the owner wants."""

from __future__ import annotations

import asyncio
import json
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from runs.core import owning as o
from runs.core.continuation import Owner
from runs.core.owner_log import Log
from runs.drivers.client.hearing import heard
from runs.drivers.client.operator import Operator

RUN, PROOF = "lifeline-run", "lifeline-proof"
"""Names of ours in the metadata of a continuation."""
PATIENCE = 15.0
"""Seconds for which a checkpoint waits for what a play promises."""


class Pipe(Protocol):
    """The connection: as in :class:`runs.driver.Conversation`."""

    async def send(self, line: bytes) -> None: ...
    async def line(self) -> bytes: ...


class Refusal(Exception):
    """The app-server refused a request that it must not refuse."""


Note = Callable[[dict[str, Any]], None]
"""Takes one record of the owner's log."""


class Client:
    """One run of one owner over one connection."""

    def __init__(
        self,
        pipe: Pipe,
        note: Note,
        *,
        prompt: str,
        work: str,
        run: str = "run-1",
        proof: str = "proof",
        breaks: str = "",
        operator: Sequence[Mapping[str, Any]] = (),
        clocks: Mapping[str, float] | None = None,
    ) -> None:
        clocks = clocks or {}
        self._pipe, self._note, self._prompt, self._work = pipe, note, prompt, work
        self._answer_within = clocks.get("answer", 10.0)
        times: dict[str, Any] = {
            key: clocks[key] for key in ("window", "warn_after", "give_up_after") if key in clocks
        }
        self._make: Callable[[str], Owner] = lambda thread: Owner(
            run, thread, proof=proof, breaks=breaks, **times
        )
        self._operator = Operator(operator, run)
        self._run, self._proof = run, proof
        self._inbox: deque[dict[str, Any]] = deque()
        self._arrived: list[dict[str, Any]] = []
        self._news = asyncio.Event()
        self._gone = False
        self._limit: dict[str, Any] | None = None
        self._last = 0
        self._asked: dict[int, str] = {}
        self._ack_by: float | None = None
        self.owner: Owner | None = None
        self.result: o.Finalize | None = None
        self._log: Log | None = None

    async def run(self) -> o.Finalize | None:
        """From the handshake to the one result."""
        reading = asyncio.create_task(self._read())
        try:
            await self._open()
            while not self._done():
                await self._step()
            await self._at("closed")
            await self._drain()
            return self.result
        finally:
            reading.cancel()

    def _done(self) -> bool:
        return self.result is not None and not self._inbox

    # The connection

    async def _read(self) -> None:
        while line := await self._pipe.line():
            try:
                message = json.loads(line)
            except (ValueError, RecursionError):
                continue
            if isinstance(message, dict):
                self._inbox.append(message)
                self._arrived.append(message)
                self._news.set()
        self._gone = True
        self._news.set()

    async def _send(self, message: dict[str, Any]) -> None:
        await self._pipe.send(json.dumps(message, separators=(",", ":")).encode())

    async def _request(self, method: str, params: dict[str, Any]) -> int:
        self._last += 1
        self._asked[self._last] = method
        await self._send({"id": self._last, "method": method, "params": params})
        return self._last

    async def _ask(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """For the handshake: waits for the answer, what else comes stays in the inbox."""
        number = await self._request(method, params)
        while True:
            for message in list(self._inbox):
                if message.get("id") == number and "method" not in message:
                    self._inbox.remove(message)
                    self._asked.pop(number, None)
                    if "error" in message:
                        raise Refusal(f"{method}: {json.dumps(message['error'])[:300]}")
                    result = message.get("result")
                    return result if isinstance(result, dict) else {}
            if self._gone:
                raise Refusal(f"{method}: the app-server went away")
            await self._arrival(None)

    async def _arrival(self, within: float | None) -> None:
        self._news.clear()
        if not self._inbox and not self._gone or within is None:
            try:
                await asyncio.wait_for(self._news.wait(), within)
            except TimeoutError:
                pass

    async def _open(self) -> None:
        who = {"name": "lifeline", "title": "Lifeline", "version": "1"}
        capabilities = {"experimentalApi": True}
        await self._ask("initialize", {"clientInfo": who, "capabilities": capabilities})
        await self._send({"method": "initialized"})
        started = await self._ask("thread/start", {"cwd": self._work})
        thread = str((started.get("thread") or {}).get("id", ""))
        self.owner = self._make(thread)
        self._log = Log(self.owner)
        given = [{"type": "text", "text": self._prompt}]
        await self._request("turn/start", {"threadId": thread, "input": given})
        await self._at("start")

    # The owner

    async def _step(self) -> None:
        """One message, or the next moment at which time itself is news."""
        if self._inbox:
            await self._take(self._inbox.popleft())
            return
        if self._gone:
            await self._tell(o.Gone())
            return
        await self._arrival(0.05)
        if not self._inbox:
            await self._time()

    async def _time(self) -> None:
        if self._ack_by is not None and time.monotonic() >= self._ack_by:
            self._ack_by = None
            await self._tell(o.AnswerLost())
        await self._tell(o.Tick())

    async def _take(self, message: dict[str, Any]) -> None:
        assert self.owner is not None
        if "method" not in message:
            await self._answered(message)
            return
        if "id" in message:
            error = {"code": -32601, "message": "Lifeline's client cannot do this."}
            await self._send({"id": message["id"], "error": error})
            return
        for fact in heard(message, self.owner.thread):
            await self._tell(fact)

    async def _answered(self, message: dict[str, Any]) -> None:
        method = self._asked.pop(message.get("id") or 0, "")
        if method != "turn/start":
            return
        self._ack_by = None
        if "error" in message:
            await self._tell(o.Refused(text=str(message["error"])[:300]))
            return
        turn = str(((message.get("result") or {}).get("turn") or {}).get("id", ""))
        await self._tell(o.Accepted(turn=turn))

    async def _tell(self, fact: o.Heard) -> None:
        assert self.owner is not None and self._log is not None
        before = self.owner.phase
        wants = self.owner.feed(fact, time.monotonic())
        for row in self._log.after(fact, wants):
            self._note(row)
        for want in wants:
            await self._do(want)
        if self.owner.phase is not before and self.owner.phase.value in ("waiting", "turn", "sent"):
            await self._at(self.owner.phase.value)

    async def _do(self, want: o.Want) -> None:
        owner = self.owner
        assert owner is not None
        if isinstance(want, o.Settle):
            await self._at("settle")
            await self._drain()
            await self._tell(o.Quiet())
        elif isinstance(want, o.Approach):
            await self._at(want.what)
            await self._drain()
            await self._tell(o.AtWrite(what=want.what, turn=want.turn))
        elif isinstance(want, o.Continue):
            self._ack_by = time.monotonic() + self._answer_within
            await self._request("turn/start", self._continuation(owner, want))
        elif isinstance(want, o.Interrupt):
            await self._request("turn/interrupt", {"threadId": want.thread, "turnId": want.turn})
        elif isinstance(want, o.ListTurns):
            await self._request("thread/read", {"threadId": owner.thread, "includeTurns": True})
        elif isinstance(want, o.Finalize) and self.result is None:
            self.result = want

    def _continuation(self, owner: Owner, want: o.Continue) -> dict[str, Any]:
        return {
            "threadId": owner.thread,
            "input": [],
            "clientUserMessageId": want.run,
            "responsesapiClientMetadata": {RUN: want.run, PROOF: self._proof},
        }

    async def _drain(self) -> None:
        """Tell everything that has arrived so far, or as far as the operator lets us look."""
        limit, self._limit = self._limit, None
        if limit is not None and limit not in self._inbox:
            return
        while self._inbox:
            message = self._inbox.popleft()
            await self._take(message)
            if message is limit:
                return

    # The operator

    async def _at(self, place: str) -> None:
        for step in self._operator.reach(place):
            found = await self._until(step.get("until"))
            self._limit = found if step.get("upto") else self._limit
            deed = self._operator.deed(str(step.get("do", "")))
            if deed is not None:
                await self._tell(deed)

    async def _until(self, wanted: Mapping[str, Any] | None) -> dict[str, Any] | None:
        """Wait until that many messages of the kind have arrived, told or not; gives the last."""
        if not wanted:
            return None
        count, end = int(wanted.get("count", 1)), time.monotonic() + PATIENCE
        while len(found := [one for one in self._arrived if self._fits(one, wanted)]) < count:
            if self._gone or time.monotonic() > end:
                raise Refusal(f"the play promised {dict(wanted)}, and it did not come")
            self._news.clear()
            try:
                await asyncio.wait_for(self._news.wait(), 1.0)
            except TimeoutError:
                pass
        return found[count - 1]

    def _fits(self, message: Mapping[str, Any], wanted: Mapping[str, Any]) -> bool:
        params = message.get("params") or {}
        if message.get("method") != wanted["method"]:
            return False
        thread = self.owner.thread if self.owner is not None else ""
        if "own" in wanted and (params.get("threadId") == thread) is not wanted["own"]:
            return False
        return wanted.get("item") in (None, (params.get("item") or {}).get("type"))
