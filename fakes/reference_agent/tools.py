"""The tools that the model can call, and what each answers."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

from fakes.reference_agent.settings import Notice
from fakes.reference_agent.trouble import CallFailed
from fakes.reference_agent.wires import Call

if TYPE_CHECKING:
    from fakes.reference_agent.agent import Agent

Tool = Callable[["Agent", Call], Awaitable[str]]


HANG = 2.5
"""Seconds for which a misbehaviour hangs before it gives up, so that a run ends by itself."""


class Refused(Exception):
    """A tool that says no; the text says why."""


async def run(agent: Agent, call: Call) -> str:
    """Run one tool call and give its output, a JSON object; an error is an output, too."""
    name = call.name
    agent.log("tool.started", call=call.id, tool=name, background=_background(call))
    ok = True
    if agent.parent and agent.open and agent.world.behaviour.breaks("early-terminal"):
        agent.world.end(agent, "completed")
    try:
        tool = TABLE.get(name)
        if tool is None:
            raise Refused(f"there is no tool {name!r}")
        output = await tool(agent, call)
    except Refused as error:
        ok, output = False, json.dumps({"error": str(error)})
    except (asyncio.CancelledError, CallFailed):
        agent.log("tool.ended", call=call.id, tool=name, ok=False, interrupted=True)
        raise
    agent.log("tool.ended", call=call.id, tool=name, ok=ok, text_length=len(output))
    return output


def _background(call: Call) -> bool:
    return bool(call.arguments.get("background"))


async def _delegate(agent: Agent, call: Call) -> str:
    world = agent.world
    given = dict(call.arguments)
    background = _background(call)
    agent.log(
        "spawn.requested",
        call=call.id,
        name=given.get("name"),
        role="worker",
        background=background,
        model=given.get("model") or agent.model,
        depth=agent.depth + 1,
        prompt_length=len(str(given.get("prompt", ""))),
        task=given.get("task"),
    )
    if world.behaviour.breaks("spawn-hangs"):
        await asyncio.sleep(HANG)
        raise CallFailed("other", "the spawn is not answered", retryable=False)
    refusal = world.admit(agent)
    if refusal:
        agent.log("spawn.answered", call=call.id, ok=False, refusal=refusal)
        raise Refused(f"refused: {refusal}")
    child = world.add(agent, call.id, given)
    agent.log("spawn.answered", call=call.id, ok=True, child=child.id, background=background)
    world.start(child)
    if background:
        return _says(child, "started")
    return await _end_of(agent, child, "tool_result")


async def _wait(agent: Agent, call: Call) -> str:
    return await _end_of(agent, _named(agent, call), "wait")


async def _end_of(agent: Agent, child: Agent, form: str) -> str:
    """Wait for the child's end and read its notice here, so that it is told only once."""
    if child.open:
        agent.set_status("waiting", open=[child.id])
    await child.over.wait()
    agent.set_status("working")
    return _told(agent, child, form)


def _told(agent: Agent, child: Agent, form: str) -> str:
    notice = agent.take_notice(child.id)
    if notice is None:
        return _says(child, "known", note="You have been told of its end.")
    agent.deliver(notice, form)
    return _says(child, notice.status, text=notice.text())


async def _poll(agent: Agent, call: Call) -> str:
    child = _named(agent, call)
    if not child.open:
        return _told(agent, child, "poll")
    agent.log("notice.delivered", child=child.id, status="running", raw="running", form="poll")
    return _says(child, "running")


async def _message(agent: Agent, call: Call) -> str:
    child = _named(agent, call)
    text = str(call.arguments.get("text", ""))
    if child.open:
        child.inbox.append(text)
        child.wake.set()
        return _says(child, "running", note="It reads your message with its next turn.")
    notice = agent.take_notice(child.id)
    if notice is not None:
        # The end of the run before is told now: the new run will have an end of its own.
        agent.deliver(notice, "tool_result")
    agent.world.again(child, text)
    return _says(child, "started", before=notice.text() if notice else "")


async def _cancel(agent: Agent, call: Call) -> str:
    child = _named(agent, call)
    if not child.open:
        return _told(agent, child, "tool_result")
    agent.world.cancel(child, agent.id)
    if agent.world.behaviour.breaks("cancel-ignored"):
        return _says(child, "cancelled")
    await child.over.wait()
    return _told(agent, child, "tool_result")


async def _note(agent: Agent, call: Call) -> str:
    return json.dumps({"noted": True})


async def _quiet(agent: Agent, call: Call) -> str:
    seconds = min(float(call.arguments.get("seconds", 1.0)), 60.0)
    if agent.world.behaviour.breaks("watchdog-false-alarm"):
        await asyncio.sleep(min(0.4, seconds))
        agent.log("watchdog.fired", target=agent.id, action="end", after=0.4, reason="silence")
        raise CallFailed("other", "ended by the watchdog", retryable=False)
    await asyncio.sleep(seconds)
    return json.dumps({"quiet_for": seconds})


async def _ask(agent: Agent, call: Call) -> str:
    """A question: shown to the root's user, who lets harmless things pass."""
    what = str(call.arguments.get("what", "a harmless thing"))
    agent.log("question.asked", id=call.id, what=what[:200], tool=call.name)
    if agent.world.behaviour.breaks("hidden-permission"):
        await asyncio.sleep(HANG)
        agent.log("question.answered", id=call.id, answer="denied", by="timeout")
        raise Refused("nobody answered")
    agent.log("question.shown", id=call.id, to="root")
    await asyncio.sleep(0.05)
    agent.log("question.answered", id=call.id, answer="allowed", by="user")
    return json.dumps({"allowed": True})


def _named(agent: Agent, call: Call) -> Agent:
    """The caller's own child of that id or path; Refused when it has none."""
    wanted = str(call.arguments.get("agent", ""))
    for child in agent.children():
        if wanted in (child.id, child.path):
            return child
    raise Refused(f"you have no agent {wanted!r}")


def _says(child: Agent, status: str, **more: Any) -> str:
    """A tool's output about a child; `agent` and `task` are what a script reads."""
    return json.dumps({"agent": child.id, "task": child.path, "status": status, **more})


TABLE: dict[str, Tool] = {
    "delegate": _delegate,
    "wait": _wait,
    "poll": _poll,
    "message": _message,
    "cancel": _cancel,
    "note": _note,
    "quiet": _quiet,
    "ask": _ask,
}

__all__ = ["TABLE", "Notice", "Refused", "run"]
