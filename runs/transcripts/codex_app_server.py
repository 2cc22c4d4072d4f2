"""Codex app-server traffic: JSON-RPC lines in two directions, one stream for all threads."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from runs.core.events import Kind
from runs.transcripts._base import Format, Reader
from runs.transcripts._codex_app_items import Items
from runs.transcripts._sniff import records
from runs.transcripts._steady import Order
from runs.transcripts._values import (
    items,
    mapping,
    moment,
    number,
    seconds,
    status,
    text,
)

STATUS = {"active": "running", "idle": "idle", "systemError": "failed", "notLoaded": "ended"}
ENDED = frozenset({"completed", "failed", "interrupted"})
LATE = 60.0
"""Seconds by which a recorder on the same clock may be late."""
_VERSION = re.compile(r"/(\d+\.\d+\.\d+[\w.-]*)")
_ASKS = ("requestApproval", "requestUserInput", "Approval", "elicitation")
_PREFIXES = ("thread/", "turn/", "item/", "account/", "initialize", "error", "configWarning")


class AppServer(Items):
    """One connection. A line is ``{t, dir, msg}`` (in: from the client), or the message alone."""

    envelope = frozenset({"method"})
    order = Order(jump=900.0, strict=False)  # Stamped by who sent it, or by who read it.

    def __init__(self, file: str) -> None:
        super().__init__(file)
        self._asked: dict[str, str] = {}
        self._thread_asks: dict[str, str] = {}
        self._turns: dict[str, str] = {}
        """The turn of each thread that is open."""
        self._connections = 0
        self._resumed = 0

    def record(self, record: Mapping[str, Any]) -> None:
        """One message."""
        inner = mapping(record.get("msg"))
        message = inner or record
        method = text(message.get("method"), 120)
        params = mapping(message.get("params"))
        self._when(record, message, params)
        self.native = method or "response"
        name = text(message.get("id"))
        if not method:
            self._response(name, message)
        elif "id" in message:
            self._request(method, name, params, text(record.get("dir"), 10))
        else:
            thread = text(params.get("threadId"))
            handler = _NOTIFICATIONS.get(method)
            if handler is None:
                self.other(method, agent=thread)
            else:
                handler(self, params, thread)

    def _when(
        self, record: Mapping[str, Any], message: Mapping[str, Any], params: Mapping[str, Any]
    ) -> None:
        """The recorder's own time where there is one, tied to the epoch by the first stamp."""
        own = number(record.get("t"))
        stamp = moment(message.get("emittedAtMs"))
        if stamp is None:
            stamp = moment(params.get("completedAtMs") or params.get("startedAtMs"))
        if own is None:
            self.at = stamp if stamp is not None else moment(record.get("timestamp"))
            return
        self.at = own
        if stamp is None:
            return
        if abs(stamp - own) < LATE:
            self.at = stamp  # one clock: when it was said, not when it was read
        else:
            self.facts.setdefault("clock_offset", stamp - own)

    # Requests and answers

    def _request(self, method: str, name: str, params: Mapping[str, Any], side: str) -> None:
        thread = text(params.get("threadId") or params.get("conversationId"))
        if method == "turn/interrupt":
            self.add(Kind.CANCEL_REQUESTED, thread, target=thread, by="user", raw=method)
        elif method == "turn/start":
            self.add(Kind.USER_MESSAGE, thread, **{"from": "client"})
        elif method in ("thread/start", "thread/resume", "thread/read"):
            self._thread_asks[name] = method
            self.other(method, agent=thread)
        elif side != "in" and any(word in method for word in _ASKS):
            self._asked[name] = thread
            tool = method.split("/")[1] if method.count("/") > 1 else method
            self.add(Kind.QUESTION_ASKED, thread, id=name, what="permission", tool=tool)
            self.add(Kind.QUESTION_SHOWN, thread, id=name, to="client")
        else:
            if method == "initialize":
                self._connections += 1
                self.open_items.forget()  # nobody is left to end them
            self.other(method, agent=thread)

    def _response(self, name: str, message: Mapping[str, Any]) -> None:
        result = mapping(message.get("result"))
        if name in self._asked:
            thread = self._asked.pop(name)
            answer = text(result.get("decision") or mapping(message.get("error")).get("code"), 80)
            self.add(Kind.QUESTION_ANSWERED, thread, id=name, answer=answer, by="client")
            return
        agent = result.get("userAgent")
        found = _VERSION.search(agent) if isinstance(agent, str) else None
        if found:
            self.facts.setdefault("version", found[1])
        method = self._thread_asks.pop(name, "")
        if method:
            self._found(method, mapping(result.get("thread")))
        if not self.out or self.out[-1].line != self.line:
            self.other("response")

    # Threads and turns

    def _found(self, method: str, thread: Mapping[str, Any]) -> None:
        """A thread, as a request for it was answered."""
        name = text(thread.get("id"))
        if not name:
            return
        before = ("thread", name) in self.seen or name in self.started
        if before and self._connections > 1 and self._resumed < self._connections:
            self._resumed = self._connections
            self.add(Kind.SESSION_RESUMED, self.root, session=self.root)
        if method == "thread/read":
            self._read(name, thread)
        else:
            self._open(thread)

    def _read(self, name: str, thread: Mapping[str, Any]) -> None:
        """What is stored of a thread; the end of a turn that nobody else has told is one."""
        word = text(mapping(thread.get("status")).get("type"), 40)
        turns = [mapping(one) for one in items(thread.get("turns"))]
        last = turns[-1] if turns else {}
        raw = text(last.get("status"), 40)
        mine = self._turns.get(name)
        if raw not in ENDED or not mine or mine != text(last.get("id")):
            self.other(self.native, summary=f"{word}; its last turn {raw}", agent=name)
            return
        del self._turns[name]
        if name not in self.started:
            self.end_turn(name, status(raw), raw, last.get("error"))
            return
        # Of a thread that was cut off its store has no end either: it is told when asked.
        self.ended.add(name)
        cut = raw == "interrupted"
        self.add(Kind.AGENT_ENDED, name, status=status(raw), raw=f"{word}, {raw}", inferred=cut)

    def _open(self, thread: Mapping[str, Any]) -> None:
        name, parent = text(thread.get("id")), text(thread.get("parentThreadId"))
        if not name or ("thread", name) in self.seen:
            return
        self.seen.add(("thread", name))
        version = text(thread.get("cliVersion"))
        if version:
            self.facts["version"] = version
        if parent:
            self.begin(name, parent, name=text(thread.get("agentNickname")), background=True)
            return
        self.root = self.root or name
        self.facts.setdefault("session", name)
        self.add(
            Kind.SESSION_STARTED, name, version=self.facts.get("version", ""), session=name,
            model=text(thread.get("model")) or None, cwd=text(thread.get("cwd"), 400),
        )  # fmt: skip

    def _thread_started(self, params: Mapping[str, Any], thread: str) -> None:
        self._open(mapping(params.get("thread")))
        if not self.out:
            self.other(self.native)

    def _status(self, params: Mapping[str, Any], thread: str) -> None:
        found = mapping(params.get("status"))
        word = text(found.get("type"), 40)
        flags = [text(flag, 80) for flag in items(found.get("activeFlags"))]
        ours = STATUS.get(word, "running")
        if any(flag.startswith("waitingOn") for flag in flags):
            ours = "waiting"
        self.add(Kind.STATUS, thread, status=ours, raw=word, reason=",".join(flags)[:200])

    def _turn_started(self, params: Mapping[str, Any], thread: str) -> None:
        self.wake(thread, "", reason="new turn")
        turn = text(mapping(params.get("turn")).get("id"))
        self._turns[thread] = turn
        self.begun.setdefault(thread, set()).add(turn)
        self.add(Kind.TURN_STARTED, thread, turn=turn)

    def _turn_completed(self, params: Mapping[str, Any], thread: str) -> None:
        turn = mapping(params.get("turn"))
        raw = text(turn.get("status"), 40)
        self._turns.pop(thread, None)
        more: dict[str, Any] = {"turn": text(turn.get("id"))}
        if self.root and thread != self.root:
            self.begin(thread, self.root, background=True)  # it was faster than word of its start
        if thread in self.started:
            more = {"duration": seconds(turn.get("durationMs"))}
        self.end_turn(thread, status(raw), raw, turn.get("error"), **more)

    def _error(self, params: Mapping[str, Any], thread: str) -> None:
        error = mapping(params.get("error"))
        if params.get("willRetry") is True:
            self.retry(thread, error.get("message"), error)
        else:
            # The turn's end repeats it, and is the one that counts.
            self.other("error", summary="final", agent=thread)


_NOTIFICATIONS = {
    "thread/started": AppServer._thread_started,
    "thread/status/changed": AppServer._status,
    "turn/started": AppServer._turn_started,
    "turn/completed": AppServer._turn_completed,
    "error": AppServer._error,
    "item/started": Items.item_started,
    "item/completed": Items.item_completed,
    "item/agentMessage/delta": Items.delta,
    "item/reasoning/textDelta": Items.delta,
    "item/commandExecution/outputDelta": Items.delta,
}


class CodexAppServer(Format):
    """A client's log, or a recording of both directions."""

    name = "codex-app-server-rpc"
    title = "Codex app-server traffic"
    source = "rpc"
    agent = "codex"
    clock = "relative"

    def sniff(self, head: bytes, name: str) -> float:
        """By the protocol's method names."""
        found = [mapping(one.get("msg")) or one for one in records(head)]
        mine = [one for one in found if text(one.get("method"), 80).startswith(_PREFIXES)]
        sure = [
            one for one in mine
            if text(one["method"], 80).startswith(("thread/", "turn/", "item/"))
        ]  # fmt: skip
        return 0.92 if sure and len(mine) * 3 >= len(found) else 0.0

    def reader(self, file: str) -> Reader:
        """A reader of one connection."""
        return AppServer(file)


READER = CodexAppServer()
