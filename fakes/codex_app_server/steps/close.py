"""The parent closes a sub-agent."""

from __future__ import annotations

from fakes.codex_app_server import agents
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """`child` is stopped: an open turn of it ends as interrupted. v1 shows a ``closeAgent``
    call, v2 an ``interrupted`` activity."""
    world = turn.world
    agent = agents.named(world, step["child"])
    call = None
    if not agents.activities(world):
        call = agents.call(turn, "closeAgent", [agent.thread])
    if agent.thread in world.running:
        agents.end(agent, "interrupted", "")
    if call is None:
        agents.activity(turn, agent, "interrupted")
        return
    agent.state = "shutdown"
    agents.called(turn, call, [agent])


STEP = Step(play, needs={"child": str})
