"""Plays one turn on one thread: begin, items, steps, end."""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any

from fakes.codex_app_server import payloads
from fakes.codex_app_server.ids import fresh
from fakes.codex_app_server.scenario import Plan, Steps
from fakes.codex_app_server.step import kinds, options
from fakes.codex_app_server.world import World

Item = dict[str, Any]


class Interrupted(Exception):
    """The client interrupted the turn."""


class Failed(Exception):
    """A step ends the turn as failed; the text is its error."""


class Turn:
    """A turn in progress. Steps speak through it."""

    def __init__(self, world: World, thread: str, root: str = "") -> None:
        """`root` is the turn whose work this one is part of, itself where none is given."""
        self.world, self.thread = world, thread
        self.id = fresh()
        self.root = root or self.id
        self.items: list[Item] = []
        self.interrupted = threading.Event()
        self.playing = False
        """Whether steps of it are played, which would see an interrupt."""
        self._early: list[tuple[Sequence[Any], str | None]] | None = []
        """Input that came before the turn had begun; None from then on."""
        self.began = time.time()

    # Speaking

    def notify(self, method: str, **params: Any) -> None:
        """A notification of this turn."""
        self.world.wire.notify(method, {"threadId": self.thread, "turnId": self.id, **params})

    def start_item(self, item_type: str, identifier: str, **keys: Any) -> Item:
        """An item begins."""
        now = payloads.milliseconds()
        item = {
            "type": item_type,
            "id": identifier,
            **keys,
            "startedAtMs": now,
            "completedAtMs": None,
        }
        self.notify("item/started", item=item, startedAtMs=now)
        return item

    def end_item(self, item: Item, **keys: Any) -> Item:
        """An item ends with these values, and belongs to the turn."""
        now = payloads.milliseconds()
        item = {**item, **keys, "completedAtMs": now}
        self.items.append(item)
        self.notify("item/completed", item=item, completedAtMs=now)
        return item

    def ask(self, method: str, **params: Any) -> Any:
        """The client's answer to a request of ours."""
        keys = {"threadId": self.thread, "turnId": self.id, **params}
        identifier, answer = self.world.wire.ask(method, keys, self.world.scenario().patience)
        resolved = {"threadId": self.thread, "requestId": identifier}
        self.world.wire.notify("serverRequest/resolved", resolved)
        return answer

    # Playing

    def play(self, steps: Steps) -> None:
        """The steps in order; Interrupted at a boundary, Failed from a step."""
        before, self.playing = self.playing, True
        try:
            for step in steps:
                if self.interrupted.is_set():
                    raise Interrupted
                kinds()[str(step["kind"])].play(self, options(step))
            if self.interrupted.is_set():
                raise Interrupted
        finally:
            self.playing = before

    def begin(self, echo: Sequence[Any] = (), client_id: str | None = None) -> None:
        """Say that the turn began, with the input that it answers (none: no user message)."""
        self.began = time.time()
        self.world.status(self.thread, "active")
        turn = self.told(startedAt=payloads.seconds())
        self.world.wire.notify("turn/started", {"threadId": self.thread, "turn": turn})
        with self.world.wire.quiet():
            early, self._early = self._early or [], None
            for given in ((echo, client_id), *early):
                self.echo(*given)

    def echo(self, given: Sequence[Any], client_id: str | None = None) -> None:
        """Input of the client as an item, nothing for none; never before what the turn answers."""
        if self._early is not None:
            self._early.append((given, client_id))
        elif given:
            content = [_whole(part) for part in given]
            self.end_item(
                self.start_item("userMessage", fresh(), clientId=client_id, content=content)
            )

    def end(self, status: str, error: str = "") -> None:
        """Keep the turn, then say how it ended."""
        self.world.store.end_turn(
            self.thread, {"id": self.id, "items": self.items, "status": status, "error": error}
        )
        with self.world.lock:
            if self.world.running.get(self.thread) is self:
                del self.world.running[self.thread]
        failure = payloads.failure(error) if status == "failed" else None
        self.world.status(self.thread, "systemError" if failure else "idle")
        if failure:
            self.notify("error", error=failure, willRetry=False)
        self.world.wire.notify(
            "turn/completed", {"threadId": self.thread, "turn": self.summary(status, failure)}
        )

    def told(self, status: str = "inProgress", **more: Any) -> dict[str, Any]:
        """The turn as the protocol shows it."""
        return payloads.turn(self.id, status, rootTurnId=self.root, **more)

    def summary(self, status: str, failure: Any = None) -> dict[str, Any]:
        """The turn as its end tells it."""
        last = [item for item in self.items if item["type"] == "agentMessage"][-1:]
        shown = last if status == "completed" and self.world.protocol.summarises else []
        return self.told(
            status,
            items=shown,
            itemsView="summary" if shown else "notLoaded",
            error=failure,
            startedAt=int(self.began),
            completedAt=payloads.seconds(),
            durationMs=int((time.time() - self.began) * 1000),
        )

    def run(self, plan: Plan, echo: Sequence[Any] = (), client_id: str | None = None) -> None:
        """The whole turn as its plan says, but for what comes after its end."""
        self.begin(echo, client_id)
        self.world.wire.release()
        try:
            self.play(plan.steps)
        except Interrupted:
            self.end("interrupted")
        except Failed as failed:
            self.end("failed", str(failed))
        else:
            if plan.buffered:
                self.world.wire.hold()
            if plan.ends:
                self.end("completed")


def _whole(part: Any) -> Any:
    """Input as the server repeats it: with its defaults."""
    return {**part, "text_elements": part.get("text_elements", [])} if "text" in part else part
