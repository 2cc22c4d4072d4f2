"""The tree of agents: who was started by whom, who has ended, who knows of it.

Every run that starts ends exactly once, and its spawner is told exactly once.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from typing import Any

from fakes.reference_agent import restart
from fakes.reference_agent.agent import ROOT, Agent
from fakes.reference_agent.log import Log
from fakes.reference_agent.misbehaviours import Behaviour
from fakes.reference_agent.model import Model
from fakes.reference_agent.settings import Notice, Settings, Usage
from fakes.reference_agent.trouble import CallFailed
from fakes.reference_agent.wires import Item

SYSTEM = "You are a careful assistant. Delegate what you are asked to delegate."


class World:
    """All agents of one session."""

    def __init__(self, settings: Settings, log: Log) -> None:
        self.settings = settings
        self.log = log
        self.behaviour = Behaviour(settings.misbehave, settings.seed)
        self.usage = Usage()
        self.model = Model(self)
        self.agents: dict[str, Agent] = {}
        self.child_model = ""
        self.later: set[asyncio.Task[Any]] = set()
        self.trace = os.urandom(16).hex()
        items = [Item("system", SYSTEM), Item("user", settings.prompt)]
        self.root = Agent(self, ROOT, "", ROOT, None, 0, settings.model, False, items)
        self.agents[ROOT] = self.root

    # Beginnings

    def admit(self, parent: Agent) -> str:
        """Why a child may not start now (limit, depth), empty when it may."""
        if parent.depth + 1 > self.settings.max_depth:
            return "depth"
        held = sum(one.holds_slot for one in self.agents.values())
        full = held >= self.settings.max_children
        return "limit" if full and not self.behaviour.breaks("limit-ignored") else ""

    def add(self, parent: Agent, call: str, arguments: dict[str, Any]) -> Agent:
        """A new child of `parent`, not yet at work."""
        number = len(parent.children()) + 1
        prefix = "agent" if parent is self.root else parent.id
        child = Agent(
            self,
            f"{prefix}-{number}",
            str(arguments.get("task", number)),
            str(arguments.get("name", "")),
            parent,
            parent.depth + 1,
            str(arguments.get("model") or parent.model),
            bool(arguments.get("background")),
            [Item("system", SYSTEM), Item("user", str(arguments.get("prompt", "")))],
            call=call,
        )
        child.holds_slot = True
        self.agents[child.id] = child
        if child.model != self.root.model:
            self.child_model = child.model
        return child

    def start(self, child: Agent) -> None:
        """Begin the child's run."""
        child.begin()
        child.log(
            "agent.started",
            parent=child.parent.id if child.parent else None,
            name=child.name,
            role="worker",
            background=child.background,
            model=child.model,
            call=child.call,
            path=child.path,
            depth=child.depth,
            run=child.run,
        )
        self.save()
        child.task = asyncio.create_task(self._live(child))

    def again(self, child: Agent, text: str) -> None:
        """Give an agent that has ended more work: a new run of it."""
        child.run, child.status, child.cancelled = child.run + 1, "running", False
        child.over.clear()
        child.begin()
        child.log("agent.resumed", by="parent", run=child.run, reason="message")
        child.inbox.append(text)
        child.task = asyncio.create_task(self._live(child))

    async def _live(self, child: Agent) -> None:
        try:
            if self.behaviour.breaks("dead-spawn"):
                await asyncio.sleep(3600)
            text = await child.work()
        except CallFailed as failure:
            self._failed(child, failure)
        except asyncio.CancelledError:
            if child.cancelled:
                self.end(child, "cancelled")
            raise
        else:
            if child.open:
                self.end(child, "completed", text)

    def _failed(self, child: Agent, failure: CallFailed) -> None:
        breaks = self.behaviour.breaks
        if breaks("false-completion") or (
            breaks("error-swallowed") and (failure.status or 0) >= 400
        ):
            self.end(child, "completed", failure.partial)
        else:
            self.end(child, "failed", failure.partial, failure)

    # Endings

    def end(
        self, child: Agent, status: str, text: str = "", error: CallFailed | None = None
    ) -> None:
        """End the child's run: its terminal record, its slot, and word to its spawner."""
        breaks = self.behaviour.breaks
        child.status, child.result, child.error = status, text, error
        child.holds_slot = child.holds_slot and breaks("slots-leaked")
        if status != "completed":
            child.untold.add(child.run)
        if not breaks("lost-terminal"):
            self._write_end(child)
        if breaks("duplicate-terminal"):
            self._write_end(child)
        self.trace_agent(child)
        child.set_status("failed" if status == "failed" else "ended")
        self._tell(child)
        child.over.set()
        if breaks("zombie"):
            self.later.add(asyncio.create_task(self._haunt(child)))
        self.save()
        self.event("child-ended")

    def _write_end(self, child: Agent) -> None:
        error = child.error
        child.log(
            "agent.ended",
            hide=self.hidden(),
            status=child.status,
            raw=child.status,
            call=child.call,
            error_class=error.error_class if error else None,
            http_status=error.status if error else None,
            has_result=bool(child.result),
            text_length=len(child.result),
            duration=round(time.time() - child.began, 6),
            run=child.run,
        )

    def hidden(self) -> str:
        """The view in which nothing of a child's end is written; none in a healthy agent."""
        if self.behaviour.breaks("terminal-not-published"):
            return "stdout"
        return "hooks" if self.behaviour.breaks("hook-missing") else ""

    def _tell(self, child: Agent) -> None:
        """Put one notice where the spawner reads it."""
        breaks = self.behaviour.breaks
        parent = child.parent
        if parent is None:
            return
        if breaks("never-told"):
            parent.wake.set()
            return
        if breaks("misrouted-notice") and child.depth > 1:
            parent.wake.set()
            parent = self.root
        error = child.error.detail if child.error else ""
        notice = Notice(child.id, child.status, child.result, child.run, child.name, error)
        if breaks("told-wrong") and child.status == "failed":
            notice.status, notice.error = "completed", ""
        if breaks("result-discarded"):
            notice.result = ""
        for _ in range(2 if breaks("told-twice") else 1):
            parent.inbox.append(notice)
            facts = {key: notice.facts("")[key] for key in ("child", "status", "raw", "run")}
            parent.log("notice.queued", hide=self.hidden(), **facts)
        parent.wake.set()

    def after_notice(self, agent: Agent, notice: Notice) -> None:
        """What a notice may do to the agent that reads it: nothing, in a healthy one."""
        if self.behaviour.breaks("child-kills-parent") and notice.error:
            child = self.agents[notice.child]
            raise child.error or CallFailed("other", notice.error, retryable=False)

    async def _haunt(self, child: Agent) -> None:
        """One more request of an agent that has ended."""
        await asyncio.sleep(0.8)
        try:
            await self.model.request(child, child.model)
        except CallFailed:
            pass

    # Cancelling

    def cancel(self, target: Agent, by: str) -> None:
        """Cancel an agent and everything below it, deepest first; nobody else."""
        self.log.write("cancel.requested", by, target=target.id, by="parent")
        if self.behaviour.breaks("cancel-ignored"):
            return
        doomed = [target]
        if self.behaviour.breaks("cancel-overreach") and target.parent:
            doomed = target.parent.children()
        for one in doomed:
            self.stop(one)

    def stop(self, agent: Agent) -> None:
        """End the open runs of an agent and its descendants as cancelled."""
        for child in agent.children():
            self.stop(child)
        if agent.open and agent is not self.root and agent.task is not None:
            agent.cancelled = True
            agent.task.cancel()

    # The session

    def event(self, what: str) -> None:
        """Something that a crash or a restart may have been ordered for."""
        if self.behaviour.breaks("crash") and what == "child-running":
            os.kill(os.getpid(), signal.SIGKILL)
        if self.settings.restart == what and not self.settings.resume:
            restart.now(self)

    def save(self) -> None:
        """Keep what a restart needs, when one is ordered."""
        if self.settings.restart:
            restart.save(self)

    def new_span(self) -> str:
        """A fresh id for the trace."""
        return os.urandom(8).hex()

    def trace_agent(self, agent: Agent) -> None:
        """The finished span of an agent's run."""
        self.log.span(
            span=agent.span,
            parent=agent.parent.span if agent.parent else "",
            trace=self.trace,
            op="invoke_agent",
            name=f"invoke_agent {agent.name}",
            agent_id=agent.id,
            start=agent.began,
            end=time.time(),
            ok=agent.status == "completed",
        )

    def trace_chat(
        self, agent: Agent, call: str, attempt: int, model: str, start: float, end: float, ok: bool
    ) -> None:
        """The finished span of one try of a model call."""
        stray = self.behaviour.breaks("spans-misparented") and agent.parent
        self.log.span(
            span=self.new_span(),
            parent=self.root.span if stray else agent.span,
            trace=self.trace,
            op="chat",
            name=f"chat {model}",
            agent_id=agent.id,
            start=start,
            end=end,
            ok=ok,
            model=model,
        )
