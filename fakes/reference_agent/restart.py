"""A crash in the middle and a new start that takes the session up again.

The crash is real: the process image is replaced without any goodbye, so that
connections break and everything that was only in memory is gone. The new start
reads ``state.json``, ends what was running as interrupted, keeps what had
ended, and tells each spawner what it does not know yet.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

from fakes.reference_agent.agent import Agent
from fakes.reference_agent.settings import Notice
from fakes.reference_agent.trouble import CallFailed
from fakes.reference_agent.wires import Item

if TYPE_CHECKING:
    from fakes.reference_agent.world import World

PLAIN = (
    *("id", "path", "name", "depth", "model", "background", "call", "run", "status", "result"),
    *("span", "began"),
)


def save(world: World) -> None:
    """Write what a new start needs, whole or not at all."""
    agents = []
    for agent in world.agents.values():
        entry: dict[str, Any] = {key: getattr(agent, key) for key in PLAIN}
        entry["parent"] = agent.parent.id if agent.parent else None
        entry["error"] = agent.error.detail if agent.error else ""
        entry["items"] = [item.as_dict() for item in agent.items]
        entry["told"] = not (agent.parent and _waiting(agent))
        agents.append(entry)
    path = world.settings.logs / "state.json"
    draft = path.with_suffix(".new")
    state = {"agents": agents, "child_model": world.child_model, "trace": world.trace}
    draft.write_text(json.dumps(state))
    draft.replace(path)


def _waiting(agent: Agent) -> bool:
    """Whether word of its end is still on its way."""
    inbox = agent.parent.inbox if agent.parent else []
    return any(isinstance(entry, Notice) and entry.child == agent.id for entry in inbox)


def now(world: World) -> NoReturn:
    """Crash here, and start again with ``--resume``."""
    save(world)
    if world.behaviour.breaks("log-damaged"):
        world.log.damage()
    os.execv(sys.executable, [*sys.orig_argv, "--resume"])


def take_up(world: World, folder: Path) -> bool:
    """Rebuild the tree of the session that crashed, and put its ends right; False: it cannot."""
    given = json.loads((folder / "state.json").read_text())
    world.child_model, world.trace = given["child_model"], given["trace"]
    entries = given["agents"]
    for entry in entries:
        _rebuild(world, entry)
    world.log.write("session.resumed", "root", version=world.settings.version)
    if world.behaviour.breaks("log-damaged"):
        world.root.log("error", error_class="other", will_retry=False, detail="the log is damaged")
        return False
    for entry in entries:
        agent = world.agents.get(entry["id"])
        if agent is None or agent.parent is None:
            continue
        if entry["status"] == "running":
            world.end(agent, "interrupted", agent.result, _interrupted())
        elif not entry["told"]:
            _tell_late(world, agent)
    return True


def _rebuild(world: World, entry: dict[str, Any]) -> None:
    items = [Item.of(item) for item in entry["items"]]
    if entry["parent"] is None:
        world.root.items = _answered(items)
        world.root.span, world.root.began = entry["span"], entry["began"]
        return
    parent = world.agents.get(entry["parent"])
    lost = entry["status"] == "running" and world.behaviour.breaks("orphaned")
    if parent is None or lost:
        return
    values = {key: entry[key] for key in PLAIN if key not in ("status", "result")}
    agent = Agent(world=world, parent=parent, items=items, **values)
    agent.status, agent.result = entry["status"], entry["result"]
    if entry["error"]:
        agent.error = CallFailed("other", entry["error"], retryable=False)
    agent.over.set()
    world.agents[agent.id] = agent


def _answered(items: list[Item]) -> list[Item]:
    """The conversation with an output for every tool call, as providers demand."""
    answered = {item.call_id for item in items if item.role == "tool"}
    missing = [call for item in items for call in item.calls if call.id not in answered]
    lost = json.dumps({"error": "lost in a restart"})
    return items + [Item("tool", lost, call_id=call.id) for call in missing]


def _tell_late(world: World, agent: Agent) -> None:
    """Tell the spawner of an end that it had not heard of when the crash came."""
    error = agent.error.detail if agent.error else ""
    notice = Notice(agent.id, agent.status, agent.result, agent.run, agent.name, error)
    if world.behaviour.breaks("resume-loses-outcome"):
        notice.status, notice.result = "interrupted", ""
        notice.error = "lost in a restart"
    assert agent.parent is not None
    agent.parent.inbox.append(notice)


def _interrupted() -> CallFailed:
    return CallFailed("aborted", "interrupted by a restart", retryable=False)
