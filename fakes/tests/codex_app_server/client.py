"""A small client for tests: one process of the fake, read by a thread, waited for by message."""

from __future__ import annotations

import json
import queue
import subprocess
import threading
from collections.abc import Callable
from types import TracebackType
from typing import Any

from fakes.codex_app_server.harness import Harness

Message = dict[str, Any]
PATIENCE = 30


class Client:
    """One connection; as a context it hangs up at the end and waits for the exit."""

    def __init__(self, fake: Harness) -> None:
        self.process = subprocess.Popen(
            [str(fake.codex), "app-server"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self.seen: list[Message] = []
        self._queue: queue.Queue[Message | None] = queue.Queue()
        self._next = 0
        threading.Thread(target=self._read, daemon=True).start()

    def __enter__(self) -> Client:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.hang_up()

    def hang_up(self) -> int:
        """Close standard input; the exit code."""
        if self.process.stdin and not self.process.stdin.closed:
            try:
                self.process.stdin.close()
            except BrokenPipeError:
                pass
        return self.process.wait(PATIENCE)

    def send(self, message: Any) -> None:
        """A message, or a raw line as bytes."""
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def request(self, method: str, params: Any = None) -> int:
        """Send a request; its id."""
        self._next += 1
        message: Message = {"id": self._next, "method": method}
        self.send(message if params is None else {**message, "params": params})
        return self._next

    def answer(self, identifier: int) -> Message:
        """The reply to that request."""
        return self.until(lambda one: one.get("id") == identifier and "method" not in one)

    def ask(self, method: str, params: Any = None) -> Any:
        """The result of a request; AssertionError for an error."""
        found = self.answer(self.request(method, params))
        assert "result" in found, found
        return found["result"]

    def refusal(self, method: str, params: Any = None) -> str:
        """The error text of a request."""
        found = self.answer(self.request(method, params))
        assert found["error"]["code"] == -32600, found
        return str(found["error"]["message"])

    def until(self, wanted: Callable[[Message], bool]) -> Message:
        """The first message not yet waited past for which `wanted` holds."""
        while True:
            message = self._queue.get(timeout=PATIENCE)
            assert message is not None, f"the server hung up; it said {self.seen[-3:]}"
            if wanted(message):
                return message

    def notified(self, method: str, thread: str = "") -> Any:
        """The parameters of the next notification of that method (on that thread)."""
        found = self.until(
            lambda one: (
                one.get("method") == method and thread in ("", one["params"].get("threadId"))
            )
        )
        return found["params"]

    def ended(self) -> None:
        """Wait until the server says no more."""
        while self._queue.get(timeout=PATIENCE) is not None:
            pass

    def methods(self) -> list[str]:
        """What was said so far, notifications only."""
        return [one["method"] for one in self.seen if "method" in one and "id" not in one]

    # What a client of Codex does first

    def initialize(self, *, experimental: bool = True) -> Client:
        """Introduce the client."""
        info = {"name": "test", "version": "1"}
        self.ask(
            "initialize",
            {"clientInfo": info, "capabilities": {"experimentalApi": experimental}},
        )
        self.send({"method": "initialized"})
        return self

    def thread(self) -> str:
        """A new thread."""
        return str(self.ask("thread/start", {"cwd": "/tmp"})["thread"]["id"])

    def turn(self, thread: str, text: str = "Hello") -> str:
        """A turn begins; its id."""
        given = [{"type": "text", "text": text}] if text else []
        return str(self.ask("turn/start", {"threadId": thread, "input": given})["turn"]["id"])

    def play(self, thread: str, text: str = "Hello") -> Any:
        """A whole turn; the turn as its end tells it."""
        self.turn(thread, text)
        return self.notified("turn/completed", thread)["turn"]

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            message = json.loads(line)
            self.seen.append(message)
            self._queue.put(message)
        self._queue.put(None)
