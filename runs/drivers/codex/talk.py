"""A client of the app-server: one thread, one turn, and it stays until its sub-agents are done.

Like a person at a terminal it does not close the connection while anything of its
runs; what never ends is ended by the run's deadline.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Mapping
from typing import Any

from runs.driver import Context, Conversation
from runs.drivers.codex.restart import KILLED, ORDER, Moment
from runs.drivers.codex.wire import Wire

GRACE = 1.0
"""Seconds without a new turn after which everything is over."""
GO_ON = "The operator is back: go on."
"""What is said to a parent that was loaded again."""
NOT_HERE = -32601
ANSWERS: Mapping[str, Mapping[str, Any]] = {
    "item/commandExecution/requestApproval": {"decision": "accept"},
    "item/fileChange/requestApproval": {"decision": "accept"},
    "execCommandApproval": {"decision": "approved"},
    "applyPatchApproval": {"decision": "approved"},
}
"""What the client says when it is asked."""


class Refused(Exception):
    """The app-server answered a request with an error."""


class Client:
    """One conversation over one connection."""

    def __init__(self, context: Context, conversation: Conversation, wire: Wire) -> None:
        self._context, self._conversation, self._wire = context, conversation, wire
        self._last = 0
        self._over = False
        self._root = ""
        self._interrupts = str(context.options["interrupt"])
        """Whose turn is still to be interrupted: parent, child, none."""
        self._waited_for = False

    async def run(self) -> None:
        """From the handshake to the end of all turns; returns when the connection may close."""
        await self._connect()
        started = await self._ask("thread/start", cwd=str(self._context.work))
        self._root = str(started.get("thread", {}).get("id", ""))
        await self._say(self._context.prompt)
        crash = Moment(str(self._context.options["restart"]), self._root)
        while not self._over and (message := await self._next()) is not None:
            if crash.is_now(message):
                await self._start_again()

    async def _connect(self) -> None:
        await self._ask(
            "initialize",
            clientInfo={"name": "lifeline", "title": "Lifeline", "version": "1"},
            capabilities={"experimentalApi": True},
        )
        await self._send({"method": "initialized"})

    async def _say(self, words: str) -> None:
        """A turn of the parent with these words."""
        given = [{"type": "text", "text": words}]
        await self._ask("turn/start", threadId=self._root, input=given)
        self._wire.threads.setdefault(self._root, True)

    async def _start_again(self) -> None:
        """Have it killed; then read what the next one has stored, resume the parent, go on."""
        await self._send_line(ORDER)
        while not self._over and (await self._take()).get("method") != KILLED:
            pass
        known = [self._root, *(one for one in self._wire.threads if one != self._root)]
        self._wire.threads.clear()
        await self._connect()
        self._wire.online()
        for thread in known:
            with contextlib.suppress(Refused):
                await self._ask("thread/read", threadId=thread, includeTurns=True)
        await self._ask("thread/resume", threadId=self._root)
        await self._say(GO_ON)

    async def _next(self) -> dict[str, Any] | None:
        """The next message; None when nothing runs and nothing came for a while."""
        working = any(self._wire.threads.values())
        try:
            return await asyncio.wait_for(self._take(), None if working else GRACE)
        except TimeoutError:
            return None

    async def _ask(self, method: str, **params: Any) -> dict[str, Any]:
        """Send a request and give its result; what comes before that is taken as it comes."""
        self._last += 1
        number = self._last
        await self._send({"id": number, "method": method, "params": params})
        while not self._over:
            message = await self._take()
            if message.get("id") == number and "method" not in message:
                if "error" in message:
                    raise Refused(f"{method}: {json.dumps(message['error'])[:300]}")
                result = message.get("result")
                return result if isinstance(result, dict) else {}
        raise Refused(f"{method}: the app-server went away")

    async def _take(self) -> dict[str, Any]:
        raw = await self._conversation.line()
        if not raw:
            self._over = True
            return {}
        message = self._wire.note("out", raw)
        if "id" in message and "method" in message:
            await self._answer(message)
        await self._interrupt(message)
        return message

    async def _interrupt(self, message: dict[str, Any]) -> None:
        """Interrupt one turn, as a person would, once the parent waits and that turn runs."""
        params = message.get("params")
        item = params.get("item") if isinstance(params, dict) else None
        if message.get("method") == "item/started" and isinstance(item, dict):
            self._waited_for = self._waited_for or item.get("tool") == "wait"
        if not self._waited_for or self._interrupts == "none":
            return
        mine = self._interrupts == "parent"
        for thread, runs in self._wire.threads.items():
            if runs and (thread == self._root) is mine and self._wire.turns.get(thread):
                self._interrupts = "none"
                given = {"threadId": thread, "turnId": self._wire.turns[thread]}
                self._last += 1
                await self._send({"id": self._last, "method": "turn/interrupt", "params": given})
                return

    async def _answer(self, message: dict[str, Any]) -> None:
        result = ANSWERS.get(str(message["method"]))
        answer: dict[str, Any] = {"id": message["id"]}
        if result is not None:
            answer["result"] = result
        else:
            answer["error"] = {"code": NOT_HERE, "message": "Lifeline's client cannot do this."}
        await self._send(answer)

    async def _send(self, message: dict[str, Any]) -> None:
        line = json.dumps(message, separators=(",", ":"), ensure_ascii=False).encode()
        await self._send_line(line)

    async def _send_line(self, line: bytes) -> None:
        self._wire.note("in", line)
        await self._conversation.send(line)
