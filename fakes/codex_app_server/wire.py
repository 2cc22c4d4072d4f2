"""The connection: lines out, and the server's own requests with the client's answers."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fakes.codex_app_server.protocol import Invalid, Protocol
from fakes.codex_app_server.shaping import shaped
from fakes.codex_app_server.transcript import Transcript

INVALID_REQUEST, UNSUPPORTED, INTERNAL = -32600, -32601, -32603
Message = dict[str, Any]


class Wire:
    """What this process says on standard output."""

    def __init__(self, transcript: Transcript, protocol: Protocol) -> None:
        self._transcript, self._protocol = transcript, protocol
        self._lock = threading.RLock()
        self._answered = threading.Condition()
        self._asked: dict[Any, str] = {}
        self._answers: dict[Any, Any] = {}
        self._next = 0
        self._kept: threading.local = threading.local()
        self._held: list[bytes] | None = None
        self.said: list[Message] = []
        """All notifications, for steps that say one again."""

    def result(self, identifier: Any, method: str, result: Any) -> None:
        """Answer a client's request, with what this version knows of `result`."""
        form = self._protocol.result(method)
        body = shaped(self._protocol.types, form, result) if form else result
        self._out({"id": identifier, "result": body}, reply_to=method)

    def refuse(self, identifier: Any, method: str, text: str, code: int = INVALID_REQUEST) -> None:
        """Answer a client's request with an error."""
        error = {"error": {"code": code, "message": text}, "id": identifier}
        self._out(error, reply_to=method)

    def notify(self, method: str, params: Any) -> None:
        """Say something, as this version says it; nothing where it does not know the method."""
        if not self._protocol.sends(method):
            return
        form = self._protocol.sent(method)
        body = shaped(self._protocol.types, form, params) if form else params
        self.say({"method": method, "params": body})

    def say(self, message: Message) -> None:
        """A notification as it is (but for its stamp)."""
        if self._protocol.stamps:
            message = {**message, "emittedAtMs": int(time.time() * 1000)}
        kept = getattr(self._kept, "messages", None)
        if kept is not None:
            kept.append(message)
            return
        with self._lock:
            self.said.append(message)
            self._out(message)

    @contextmanager
    def keeping(self) -> Iterator[list[Message]]:
        """Keeps back what this thread says inside the block: the caller sends it."""
        before = getattr(self._kept, "messages", None)
        found: list[Message] = []
        self._kept.messages = found
        try:
            yield found
        finally:
            self._kept.messages = before

    @contextmanager
    def quiet(self) -> Iterator[None]:
        """Inside the block only this thread speaks."""
        with self._lock:
            yield

    def hold(self) -> None:
        """Write no more lines until `release` writes all of them at once."""
        with self._lock:
            self._held = self._held or []

    def release(self) -> None:
        """Write what is held, if anything: who reads its first line has the others already."""
        with self._lock:
            held, self._held = self._held, None
            self._write(b"".join(held or ()))

    def ask(self, method: str, params: Any, patience: float) -> tuple[int, Any]:
        """A request of ours: its id, and the client's answer, {} for none in `patience` s."""
        with self._answered:
            self._next += 1
            identifier = self._next - 1
            self._asked[identifier] = method
        form = self._protocol.sent(method) if self._protocol.asks(method) else None
        body = shaped(self._protocol.types, form, params) if form else params
        self._out({"id": identifier, "method": method, "params": body})
        with self._answered:
            if not self._answered.wait_for(lambda: identifier in self._answers, patience):
                self._transcript.event("server_request_unanswered", method=method, id=identifier)
                return identifier, {}
            return identifier, self._answers.pop(identifier)

    def answered(self, message: Message) -> None:
        """Take a client's answer (a message with an id and no method)."""
        identifier = message["id"]
        hashable = isinstance(identifier, (str, int)) and not isinstance(identifier, bool)
        method = self._asked.pop(identifier, "") if hashable else ""
        if not method:
            text = "response to unknown server request id"
            self._transcript.message("in", message, violation=text)
            return
        answer, ignored, violation = message.get("result"), [], ""
        if "error" in message:
            answer = {}
        elif self._protocol.asks(method):
            try:
                ignored = self._protocol.reply(method, answer)
            except Invalid as wrong:
                answer, violation = {}, f"invalid response to {method}: {wrong}"
        self._transcript.message(
            "in", message, ignored=ignored, violation=violation, reply_to=method
        )
        with self._answered:
            self._answers[identifier] = answer
            self._answered.notify_all()

    def close(self) -> None:
        """No more can be said: the client sees the end of our output."""
        with self._lock:
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, sys.stdout.fileno())
            os.close(nowhere)

    def _out(self, message: Message, reply_to: str = "") -> None:
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":")) + "\n"
        with self._lock:
            self._transcript.message("out", message, reply_to=reply_to)
            if self._held is not None:
                self._held.append(line.encode())
            else:
                self._write(line.encode())

    def _write(self, data: bytes) -> None:
        """All of it, past any buffer: a process that crashes next has said it."""
        try:
            while data:
                data = data[os.write(1, data) :]
        except BrokenPipeError:
            self._transcript.event("client_gone")
            self.close()
