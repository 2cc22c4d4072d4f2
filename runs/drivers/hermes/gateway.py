"""A conversation with Hermes' gateway: a session, one prompt, and an ear until nothing is open."""

from __future__ import annotations

import asyncio
import contextlib
import json
import time
from collections.abc import Mapping
from typing import Any

from runs.core.events import Draft, Kind
from runs.driver import Context, Conversation, Emit

QUIET = 3.0
"""Seconds without a turn or a child that end it."""
WORKING = 1.0
"""Seconds that a sub-agent has worked when the client stops it."""
SENT = "rpc-sent.jsonl"
"""Where what the client asked for is kept."""
DELIVERY = 62.0
"""Seconds that the result of a child in the background gets to come back as a turn: a little more
than a parent may stay untold (L3), so that it is not we who left too early."""


class Feed:
    """What the gateway has told so far: is a turn going on, is a child or a result awaited?"""

    def __init__(self) -> None:
        self.session = ""
        self.turns = 0
        self.talking = False
        self.open: set[str] = set()
        self.owed = 0

    def hear(self, message: Mapping[str, Any]) -> None:
        """One message."""
        params = _mapping(message.get("params"))
        payload = _mapping(params.get("payload"))
        kind = params.get("type")
        child = str(payload.get("subagent_id") or payload.get("task_index"))
        if kind == "message.start":
            # A turn that brings a late result says twice that it begins.
            self.owed -= not self.talking and self.turns > 0 and self.owed > 0
            self.talking = True
        elif kind in ("message.complete", "error"):
            self.talking = False
            self.turns += kind == "message.complete"
        elif kind == "subagent.start":
            self.open.add(child)
        elif kind == "subagent.complete":
            self.open.discard(child)
        elif kind == "tool.complete":
            result = _mapping(payload.get("result"))
            self.owed += result.get("status") == "dispatched"

    @property
    def patience(self) -> float | None:
        """Seconds that silence may last until it is the end; None: as long as it takes."""
        if self.talking or self.open or not self.turns:
            return None
        return DELIVERY if self.owed else QUIET


async def converse(context: Context, conversation: Conversation, emit: Emit) -> None:
    """From the first line to the end."""
    feed, interrupts = Feed(), str(context.options["interrupt"]) == "child"
    await _send(conversation, "1", "session.create", {"cols": 80, "cwd": str(context.work)})
    while line := await _next(conversation, feed):
        message = _mapping(_parsed(line))
        result = _mapping(message.get("result"))
        if message.get("id") == "1":
            feed.session = str(result.get("session_id") or "")
            if not feed.session:
                return
            prompt = {"session_id": feed.session, "text": context.prompt}
            await _send(conversation, "2", "prompt.submit", prompt)
        elif message.get("id") == "2" and "error" in message:
            return
        feed.hear(message)
        begun = _begun(message) if interrupts else None
        if begun is not None:
            interrupts = False
            await asyncio.sleep(WORKING)
            await _interrupt(conversation, *begun, emit)


async def _interrupt(conversation: Conversation, short: str, session: str, emit: Emit) -> None:
    """Stop one sub-agent, as a person would, and say so: the feed shows what comes back only."""
    at, method, given = time.time(), "subagent.interrupt", {"subagent_id": short}
    await _send(conversation, "3", method, given)
    data = {"target": session, "by": "user", "raw": method}
    raw = json.dumps({"t": at, "method": method, "params": given}).encode()
    emit(
        Draft(
            kind=Kind.CANCEL_REQUESTED, source="rpc", file=SENT, line=1, at=at,
            agent=session, native=method, data=data,
        ),
        raw,
    )  # fmt: skip


def _begun(message: Mapping[str, Any]) -> tuple[str, str] | None:
    """The short id and the session of a sub-agent that this message says has begun."""
    params = _mapping(message.get("params"))
    payload = _mapping(params.get("payload"))
    short = str(payload.get("subagent_id") or "")
    if params.get("type") != "subagent.start" or not short:
        return None
    return short, str(payload.get("child_session_id") or short)


async def _next(conversation: Conversation, feed: Feed) -> bytes:
    """The next line; nothing when it has been silent for long enough."""
    with contextlib.suppress(TimeoutError):
        return await asyncio.wait_for(conversation.line(), feed.patience)
    return b""


async def _send(
    conversation: Conversation, number: str, method: str, params: Mapping[str, Any]
) -> None:
    request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
    await conversation.send(json.dumps(request).encode())


def _parsed(line: bytes) -> Any:
    try:
        return json.loads(line)
    except (ValueError, RecursionError):
        return None


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
