"""A sub-agent does something."""

from __future__ import annotations

from fakes.codex_app_server import agents
from fakes.codex_app_server.step import Options, ScenarioError, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """`steps` on the thread of `child`, in its newest turn (even one that ended: what comes
    late); with ``new_turn: true`` in another turn that begins now."""
    agent = agents.named(turn.world, step["child"])
    if step["new_turn"]:
        agents.begin(agent, turn.world, "")
    if agent.turn is None:
        raise ScenarioError(f"{agent.name} has no turn yet")
    agent.turn.play(step["steps"])


STEP = Step(play, needs={"child": str, "steps": list}, may={"new_turn": False})
