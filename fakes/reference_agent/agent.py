"""One agent of the tree: its conversation, and the loop that carries it on.

ask the model → run the tools that it calls → ask again … → a final text. Before
an agent is done it waits for the children that it started, and reads what their
notices say; nothing is left behind.
"""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fakes.reference_agent import tools
from fakes.reference_agent.settings import Notice
from fakes.reference_agent.trouble import CallFailed
from fakes.reference_agent.wires import Answer, Item

if TYPE_CHECKING:
    from fakes.reference_agent.world import World

ROOT = "root"
MAX_TURNS = 40


@dataclass(eq=False, slots=True)
class Agent:
    """One agent. `path` is its task's place in the plan (``1``, ``1.2``), empty for the root."""

    world: World
    id: str
    path: str
    name: str
    parent: Agent | None
    depth: int
    model: str
    background: bool
    items: list[Item]
    call: str = ""
    run: int = 1
    status: str = "running"
    result: str = ""
    error: CallFailed | None = None
    inbox: list[Notice | str] = field(default_factory=list)
    untold: set[int] = field(default_factory=set)
    """Runs that have failed or been lost and of which the parent does not know."""
    cancelled: bool = False
    holds_slot: bool = False
    wake: asyncio.Event = field(default_factory=asyncio.Event)
    over: asyncio.Event = field(default_factory=asyncio.Event)
    task: asyncio.Task[None] | None = None
    word: str = ""
    span: str = ""
    began: float = 0.0

    @property
    def open(self) -> bool:
        """Whether a run of it goes on."""
        return self.status == "running"

    def log(self, kind: str, *, hide: str = "", **data: Any) -> None:
        """Write a record about this agent, except into the view `hide`."""
        self.world.log.write(kind, self.id, hide=hide, **data)

    def set_status(self, word: str, **data: Any) -> None:
        """Report a change of the agent's status; the same word twice is no change."""
        if word == self.word and not data:
            return
        self.word = word
        self.log("session.status", word=word, **data)

    def children(self) -> list[Agent]:
        """The agents that it started."""
        return [one for one in self.world.agents.values() if one.parent is self]

    def open_children(self) -> list[Agent]:
        """Those of its children that still run."""
        return [one for one in self.children() if one.open]

    async def work(self) -> str:
        """Carry the conversation on until its final text; CallFailed when it cannot."""
        self.set_status("working")
        try:
            return await self._turns()
        except CallFailed:
            # What it started is waited for all the same: somebody has to hear of it.
            while await self._wait_for_children():
                self._read_inbox()
            raise

    async def _turns(self) -> str:
        for number in range(1, MAX_TURNS + 1):
            self._read_inbox()
            answer = await self._turn(number)
            self.world.save()
            if answer.calls or self.inbox:
                continue
            if await self._wait_for_children():
                continue
            return answer.text
        raise CallFailed("limit", f"no end after {MAX_TURNS} turns", retryable=False)

    async def _turn(self, number: int) -> Answer:
        turn = f"{self.id}/{self.run}/{number}"
        self.log("turn.started", turn=turn)
        try:
            answer = await self.world.model.ask(self)
        except CallFailed as failure:
            self.log("turn.ended", turn=turn, status="failed", error_class=failure.error_class)
            raise
        except asyncio.CancelledError:
            self.log("turn.ended", turn=turn, status="cancelled")
            raise
        self.items.append(Item("assistant", answer.text, answer.calls))
        self.log(
            "message.agent",
            text_length=len(answer.text),
            final=not answer.calls,
            finish=answer.finish,
            tool_calls=len(answer.calls),
            model=self.model,
        )
        if answer.calls:
            outputs = await asyncio.gather(*(tools.run(self, call) for call in answer.calls))
            for call, output in zip(answer.calls, outputs, strict=True):
                self.items.append(Item("tool", output, call_id=call.id))
        self.log("turn.ended", turn=turn, status="completed")
        return answer

    async def _wait_for_children(self) -> bool:
        """Wait until a child has something to say; False when there is nothing to wait for."""
        breaks = self.world.behaviour.breaks
        while self.open_children():
            if self.parent is None and breaks("early-exit"):
                return False
            if self.parent is None and breaks("premature-idle"):
                self.set_status("idle", open=[])
            else:
                self.set_status("waiting", open=[one.id for one in self.open_children()])
            self.wake.clear()
            if not await self._woken(tools.HANG if breaks("dead-spawn") else None):
                return False
            if self.inbox:
                break
            if breaks("never-told"):
                return True  # it wakes, and finds nothing
        if self.inbox:
            self.set_status("working")
        return bool(self.inbox)

    async def _woken(self, patience: float | None) -> bool:
        """Wait to be woken; False after `patience` seconds."""
        try:
            await asyncio.wait_for(self.wake.wait(), patience)
        except TimeoutError:
            return False
        return True

    def _read_inbox(self) -> None:
        """Put notices and messages into the conversation; a notice is delivered by that."""
        waiting, self.inbox = self.inbox, []
        for entry in waiting:
            if isinstance(entry, Notice):
                self.deliver(entry, "notification")
                self.items.append(Item("user", f"<notification>{entry.text()}</notification>"))
                self.world.event("child-told")
                self.world.after_notice(self, entry)
            else:
                self.log("message.user", text_length=len(entry), **{"from": "parent"})
                self.items.append(Item("user", entry))

    def deliver(self, notice: Notice, form: str) -> None:
        """Record that this agent is told, and that the child's end is known now."""
        self.log("notice.delivered", hide=self.world.hidden(), **notice.facts(form))
        child = self.world.agents.get(notice.child)
        if child is not None and notice.status == child.status:
            child.untold.discard(notice.run)

    def take_notice(self, child: str) -> Notice | None:
        """The waiting notice of that child, taken out of the inbox."""
        for entry in self.inbox:
            if isinstance(entry, Notice) and entry.child == child:
                self.inbox.remove(entry)
                return entry
        return None

    def begin(self) -> None:
        """Mark the start of a run for the trace."""
        self.span, self.began = self.world.new_span(), time.time()
