"""The connection with an app-server: every line of both directions is kept, checked and read.

``rpc.jsonl`` holds one line a message: ``{"t": epoch seconds, "dir": "in" | "out", "msg": …}``
with the message byte for byte as it was. ``in`` is from the client, ``out`` from Codex.

Two views come of it. What a thread says of itself is what the program answers live
(``stdout``); what a parent's thread says of its sub-agents is a view of its own
(``rpc``): a client that follows its turn sees no more than that.
"""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import Any

from runs.core.events import Draft, Kind
from runs.driver import Emit
from runs.drivers.codex.protocol import Protocol, Remark
from runs.drivers.codex.restart import KILL, KILLED, OURS
from runs.transcripts.codex_app_server import AppServer

FILE = "rpc.jsonl"
PART = "app-server"
OF_CHILDREN = frozenset(
    {
        Kind.AGENT_STARTED,
        Kind.SPAWN_REQUESTED,
        Kind.SPAWN_ANSWERED,
        Kind.NOTICE_DELIVERED,
        Kind.CANCEL_REQUESTED,
    }
)
"""What a thread says of others."""


class Wire:
    """One connection. :attr:`reader` knows the threads."""

    def __init__(self, emit: Emit, protocol: Protocol | None) -> None:
        self.reader = AppServer(FILE)
        self.threads: dict[str, bool] = {}
        """Whether a turn of the thread is open, by thread."""
        self.turns: dict[str, str] = {}
        """The turn of the thread that began last, by thread."""
        self._emit, self._protocol = emit, protocol
        self._line = self._offset = 0
        self._asked: dict[tuple[str, str], str] = {}
        self._begun: dict[str, Draft] = {}

    def note(self, direction: str, raw: bytes) -> dict[str, Any]:
        """Take one line of either direction; gives the message, empty if it is none."""
        body = raw.strip()
        if not body:
            return {}
        message = _object(body)
        whole = message is not None
        inner = body if whole else json.dumps(body.decode("utf-8", "replace")).encode()
        line = b'{"t":%.6f,"dir":"%s","msg":%s}\n' % (time.time(), direction.encode(), inner)
        self._line += 1
        drafts = list(self.reader.feed(line, self._line, self._offset))
        drafts = [self._viewed(draft) for draft in drafts]
        if _is_ours(message):
            drafts = [_part(message or {}, drafts[0])]
        drafts += [self._remark(remark, drafts[0]) for remark in self._check(direction, message)]
        drafts += self._live_starts(drafts)
        drafts += self._result(message or {}, drafts[0])
        for number, draft in enumerate(drafts):
            self._emit(draft, line if number == 0 else b"")
        self._offset += len(line)
        self._follow(message or {})
        return message or {}

    def online(self) -> None:
        """An app-server that was started again answers."""
        data = {"part": PART, "status": "online"}
        self._emit(Draft(kind=Kind.PART, source="stdout", file=FILE, at=time.time(), data=data))

    def close(self) -> None:
        """The connection is over."""
        for draft in self.reader.end():
            self._emit(self._viewed(draft))

    # Views

    def _viewed(self, draft: Draft) -> Draft:
        if draft.kind not in OF_CHILDREN:
            return replace(draft, source="stdout")
        if draft.kind is Kind.AGENT_STARTED:
            draft = replace(draft, data={**draft.data, "ends_elsewhere": True})
        return draft

    def _live_starts(self, drafts: list[Draft]) -> list[Draft]:
        """A sub-agent's first turn on its own thread: it begins in the live view as well."""
        found = []
        for draft in drafts:
            if draft.kind is Kind.AGENT_STARTED:
                self._begun[draft.agent] = draft
        for thread, draft in list(self._begun.items()):
            if thread in self.threads or any(
                one.kind is Kind.TURN_STARTED and one.agent == thread for one in drafts
            ):
                del self._begun[thread]
                data = {k: v for k, v in draft.data.items() if k != "ends_elsewhere"}
                place = drafts[0]
                found.append(
                    replace(
                        draft,
                        source="stdout",
                        data=data,
                        at=place.at,
                        line=place.line,
                        offset=place.offset,
                        length=place.length,
                    )
                )
        return found

    def _result(self, message: dict[str, Any], place: Draft) -> list[Draft]:
        """The end of the root's turn is the program's last word: its exit code says nothing."""
        params = message.get("params")
        if message.get("method") != "turn/completed" or not isinstance(params, dict):
            return []
        turn = params.get("turn")
        status = str(turn.get("status", "")) if isinstance(turn, dict) else ""
        if not self.reader.root or params.get("threadId") != self.reader.root:
            return []
        data = {"status": status[:40], "is_error": status == "failed"}
        result = replace(place, kind=Kind.RESULT, agent=self.reader.root, native_id="", data=data)
        return [result]

    def _follow(self, message: dict[str, Any]) -> None:
        params = message.get("params")
        thread = str(params.get("threadId", "")) if isinstance(params, dict) else ""
        if thread and message.get("method") == "turn/started":
            self.threads[thread] = True
            turn = params.get("turn") if isinstance(params, dict) else None
            self.turns[thread] = str(turn.get("id", "")) if isinstance(turn, dict) else ""
        elif thread and message.get("method") == "turn/completed":
            self.threads[thread] = False

    # The protocol

    def _check(self, direction: str, message: dict[str, Any] | None) -> list[Remark]:
        if self._protocol is None or message is None or _is_ours(message):
            return []
        mine, other = ("client", "server") if direction == "in" else ("server", "client")
        name = json.dumps(message.get("id"))
        if "method" not in message:
            method = self._asked.pop((other, name), "")
            return self._protocol.check_result(f"{other}-request", method, message)
        if "id" in message:
            self._asked[mine, name] = str(message["method"])
            return self._protocol.check(f"{mine}-request", message)
        return self._protocol.check(f"{mine}-notification", message)

    def _remark(self, remark: Remark, place: Draft) -> Draft:
        summary = " ".join(part for part in (remark.place, remark.detail) if part)
        return replace(
            place,
            kind=Kind.OTHER,
            source="stdout",
            agent="",
            native=remark.method,
            native_id="",
            data={"type": f"protocol/{remark.what}", "summary": summary[:400]},
        )


def _is_ours(message: dict[str, Any] | None) -> bool:
    """Whether it is between our client and the shell, and the app-server never saw it."""
    return str((message or {}).get("method", "")).startswith(OURS)


def _part(message: dict[str, Any], place: Draft) -> Draft:
    """What the shell that keeps the app-server says, or is told."""
    if message["method"] != KILLED:
        return replace(place, source="harness", agent="", data={"type": KILL, "summary": ""})
    params = message.get("params")
    told = params if isinstance(params, dict) else {}
    data = {"part": PART, "status": "killed", "pid": told.get("pid"), "signal": told.get("signal")}
    return replace(place, kind=Kind.PART, agent="", data=data)


def _object(line: bytes) -> dict[str, Any] | None:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None
