"""A sub-agent is spawned."""

from __future__ import annotations

from fakes.codex_app_server import agents
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """Sub-agent `child` of this thread with a thread of its own, and its first turn.

    The turn stays open until a step ends it; with ``works: false`` it never began. With
    ``fails: true`` the spawn itself fails (v1's call says so, v2 shows nothing).
    """
    world, name = turn.world, step["child"]
    shown = not agents.activities(world)
    call = agents.call(turn, "spawnAgent", [], step["prompt"]) if shown else None
    if step["fails"]:
        if call:
            agents.called(turn, call, [], "failed")
        return
    agent = agents.spawn(turn, name, step["prompt"])
    if call is None:
        agents.activity(turn, agent, "started")
    if step["works"]:
        agents.begin(agent, world, step["prompt"])
    if call:
        agents.called(turn, call, [agent])


STEP = Step(
    play,
    needs={"child": str},
    may={"prompt": "Do your part.", "works": True, "fails": False},
)
