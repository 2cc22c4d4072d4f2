"""A sub-agent does something."""

from __future__ import annotations

from fakes.codex_app_server import agents
from fakes.codex_app_server.step import Options, ScenarioError, Step
from fakes.codex_app_server.turn import Failed, Interrupted, Turn


def play(turn: Turn, step: Options) -> None:
    """`steps` on the thread of `child`, in its newest turn (even one that ended: what comes
    late); with ``new_turn: true`` in another turn that begins now. A step that fails, and an
    interrupt of that turn by the client, end the child's turn and not its parent's."""
    agent = agents.named(turn.world, step["child"])
    if step["new_turn"]:
        agents.begin(agent, turn.world, "", playing=True)
    if agent.turn is None:
        raise ScenarioError(f"{agent.name} has no turn yet")
    if not agents.works(agent, turn.world):
        agent.turn.interrupted.clear()  # what comes late is said all the same
    try:
        agent.turn.play(step["steps"])
    except Interrupted:
        agents.end(agent, "interrupted", "")
    except Failed as failed:
        agents.end(agent, "failed", str(failed))
    finally:
        agent.turn.playing = False


STEP = Step(play, needs={"child": str, "steps": list}, may={"new_turn": False})
