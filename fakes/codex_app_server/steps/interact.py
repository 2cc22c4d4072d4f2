"""The parent speaks to a sub-agent."""

from __future__ import annotations

from fakes.codex_app_server import agents
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """`text` to `child`, which begins another turn if none is open (unless ``works: false``)."""
    world = turn.world
    agent = agents.named(world, step["child"])
    call = None
    if agents.activities(world):
        agents.activity(turn, agent, "interacted")
    else:
        call = agents.call(turn, "sendInput", [agent.thread], step["text"])
    if step["works"] and agent.thread not in world.running:
        agents.begin(agent, world, step["text"])
    if call:
        agents.called(turn, call, [agent])


STEP = Step(play, needs={"child": str}, may={"text": "Go on.", "works": True})
