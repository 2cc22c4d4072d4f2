"""The driver's own client of Codex's app-server: how long it stays, answers, interrupts."""

from __future__ import annotations

import json
from typing import Any

import pytest

from runs.core.events import Kind
from runs.driver import Context
from runs.drivers.codex import DRIVER
from runs.drivers.codex.talk import Client
from runs.drivers.codex.wire import Wire
from runs.tests.drivers.conftest import MakeContext
from runs.tests.drivers.test_codex_wire import CHILD, ROOT, Kept


class Server:
    """An app-server of a few lines: what it answers to each method, then what it says by itself."""

    def __init__(self, said: list[dict[str, Any]]) -> None:
        self.sent: list[dict[str, Any]] = []
        self._said = said
        self._waiting: list[bytes] = []

    async def send(self, line: bytes) -> None:
        message = json.loads(line)
        self.sent.append(message)
        results = {"thread/start": {"thread": {"id": ROOT}}, "turn/start": {"turn": {"id": "t"}}}
        if "id" in message and "method" in message:
            answer = {"id": message["id"], "result": results.get(message["method"], {})}
            self._waiting.append(json.dumps(answer).encode() + b"\n")
        if message.get("method") == "turn/start":
            self._waiting += [json.dumps(one).encode() + b"\n" for one in self._said]

    async def line(self) -> bytes:
        return self._waiting.pop(0) if self._waiting else b""

    def stop(self) -> None:
        raise AssertionError("the executor closes the connection")


def turn(method: str, thread: str) -> dict[str, Any]:
    turn = {
        "id": f"turn-{thread}",
        "status": "completed" if "completed" in method else "inProgress",
    }
    return {"method": method, "params": {"threadId": thread, "turn": turn}}


async def _talk(context: Context, said: list[dict[str, Any]]) -> tuple[Server, Kept]:
    server, kept = Server(said), Kept()
    await Client(context, server, Wire(kept, None)).run()
    return server, kept


@pytest.mark.asyncio
async def test_it_stays_until_the_last_child_has_ended(make_context: MakeContext) -> None:
    said = [turn("turn/started", ROOT), turn("turn/started", CHILD),
            turn("turn/completed", ROOT), turn("turn/completed", CHILD)]  # fmt: skip
    server, kept = await _talk(make_context(DRIVER), said)
    methods = [message.get("method") for message in server.sent]
    assert methods == ["initialize", "initialized", "thread/start", "turn/start"]
    ended = kept.of(Kind.AGENT_ENDED) + kept.of(Kind.TURN_ENDED)
    assert {one.agent for one in ended} == {ROOT, CHILD}


@pytest.mark.asyncio
async def test_it_answers_what_it_is_asked_and_refuses_what_it_cannot(
    make_context: MakeContext,
) -> None:
    said = [
        {"id": 7, "method": "item/commandExecution/requestApproval",
         "params": {"threadId": CHILD, "itemId": "i", "turnId": "t"}},
        {"id": "8", "method": "account/chatgptAuthTokens/refresh", "params": {}},
        turn("turn/completed", ROOT),
    ]  # fmt: skip
    server, kept = await _talk(make_context(DRIVER), said)
    answers = {message["id"]: message for message in server.sent if "method" not in message}
    assert answers[7]["result"] == {"decision": "accept"}
    assert answers["8"]["error"]["code"] == -32601
    assert [one.data["id"] for one in kept.of(Kind.QUESTION_SHOWN)] == ["7"]
    assert kept.of(Kind.QUESTION_ANSWERED)[0].data["answer"] == "accept"


@pytest.mark.parametrize(("whose", "thread"), [("parent", ROOT), ("child", CHILD)])
@pytest.mark.asyncio
async def test_it_interrupts_one_turn_once_the_parent_waits(
    make_context: MakeContext, whose: str, thread: str
) -> None:
    wait = {"type": "collabAgentToolCall", "id": "w", "tool": "wait", "status": "inProgress"}
    begins = {"method": "item/started", "params": {"threadId": ROOT, "turnId": "t", "item": wait}}
    said = [turn("turn/started", ROOT), begins, turn("turn/started", CHILD),
            turn("turn/completed", ROOT), turn("turn/completed", CHILD)]  # fmt: skip
    server, kept = await _talk(make_context(DRIVER, interrupt=whose), said)
    asked = [one["params"] for one in server.sent if one.get("method") == "turn/interrupt"]
    assert asked == [{"threadId": thread, "turnId": f"turn-{thread}"}]
    assert [one.data["target"] for one in kept.of(Kind.CANCEL_REQUESTED)] == [thread]
