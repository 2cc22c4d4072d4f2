"""Sub-agents of the script: their threads, their turns, and what their parent's thread says.

Two systems exist in Codex. In v1 the parent's thread shows ``collabAgentToolCall`` items with
receivers and states; in v2 ``subAgentActivity`` items and a wait that names nobody. A version
whose table knows no ``subAgentActivity`` shows v2 as v1 does.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from fakes.codex_app_server import payloads
from fakes.codex_app_server.ids import fresh, prefixed
from fakes.codex_app_server.step import ScenarioError
from fakes.codex_app_server.turn import Item, Turn
from fakes.codex_app_server.world import World

TERMINAL = {"completed": "completed", "failed": "errored", "interrupted": "interrupted"}
"""The state that a parent reads of a child, by how the child's turn ended."""


@dataclass
class Agent:
    """One sub-agent."""

    name: str
    parent: str
    """Thread of its parent."""
    root: str
    """The turn in which it was spawned."""
    prompt: str
    thread: str = field(default_factory=fresh)
    turn: Turn | None = None
    """Its newest turn, open or ended."""
    state: str = "pendingInit"
    message: str | None = None

    @property
    def path(self) -> str:
        """As v2 names it."""
        return f"/root/{self.name}"

    def seen(self) -> dict[str, Any]:
        """Its state as a parent's item shows it."""
        return {"status": self.state, "message": self.message}


def named(world: World, name: str) -> Agent:
    """The sub-agent of that name; ScenarioError before it is spawned."""
    if name not in world.agents:
        raise ScenarioError(f"no sub-agent {name!r} was spawned")
    return world.agents[name]


def activities(world: World) -> bool:
    """Whether parents' threads show activities (v2) rather than calls (v1)."""
    return world.scenario().agents == "v2" and "subAgentActivity" in world.protocol.words(
        "ThreadItem"
    )


def spawn(turn: Turn, name: str, prompt: str) -> Agent:
    """A new sub-agent of the turn's thread, stored, not yet at work."""
    world = turn.world
    agent = Agent(name, turn.thread, turn.root, prompt)
    stored = world.store.thread(turn.thread) or {}
    world.store.begin(
        agent.thread,
        {
            "createdAt": payloads.seconds(),
            "cwd": stored.get("cwd"),
            "parentThreadId": turn.thread,
            "agentPath": agent.path,
            "developerInstructions": None,
        },
    )
    world.agents[name] = agent
    world.status(agent.thread, "idle")
    return agent


def works(agent: Agent, world: World) -> bool:
    """Whether a turn of it is open."""
    return agent.turn is not None and world.running.get(agent.thread) is agent.turn


def begin(agent: Agent, world: World, text: str, *, playing: bool = False) -> Turn:
    """A turn of the sub-agent begins; in v1 its task shows as the user's message. `playing`:
    steps of it follow at once, and an interrupt is left to them."""
    turn = Turn(world, agent.thread, agent.root)
    agent.turn, agent.state, turn.playing = turn, "running", playing
    with world.lock:
        world.running[agent.thread] = turn
    shown = [] if activities(world) or not text else [{"type": "text", "text": text}]
    turn.begin(shown)
    return turn


def end(agent: Agent, status: str, message: str) -> None:
    """The sub-agent's turn ends; `message` is its error or its last words."""
    turn = agent.turn
    if turn is None:
        raise ScenarioError(f"{agent.name} has no turn that could end")
    said = [item["text"] for item in turn.items if item["type"] == "agentMessage"]
    agent.state = TERMINAL[status]
    agent.message = message or (said[-1] if said else None)
    turn.end(status, message)


def interrupted(world: World, turn: Turn) -> None:
    """The client interrupted a turn: that of a sub-agent which plays no step ends here."""
    for agent in list(world.agents.values()):
        if agent.turn is turn and works(agent, world) and not turn.playing:
            end(agent, "interrupted", "")


def activity(parent: Turn, agent: Agent, kind: str, identifier: str = "") -> Item:
    """An activity of the sub-agent on its parent's thread, begun and ended at once."""
    item = parent.start_item(
        "subAgentActivity",
        identifier or prefixed("call"),
        kind=kind,
        agentThreadId=agent.thread,
        agentPath=agent.path,
        model=None,
        reasoningEffort=None,
    )
    return parent.end_item(item)


def call(parent: Turn, tool: str, receivers: list[str], prompt: str | None = None) -> Item:
    """A call of a collaboration tool begins on the parent's thread."""
    return parent.start_item(
        "collabAgentToolCall",
        prefixed("call"),
        tool=tool,
        status="inProgress",
        senderThreadId=parent.thread,
        receiverThreadIds=receivers,
        prompt=prompt,
        model=None,
        reasoningEffort=None,
        agentsStates={},
    )


def called(parent: Turn, item: Item, agents: list[Agent], status: str = "completed") -> None:
    """The call ends, with the state of these agents."""
    states = {agent.thread: agent.seen() for agent in agents}
    receivers = [agent.thread for agent in agents]
    parent.end_item(item, status=status, agentsStates=states, receiverThreadIds=receivers)
