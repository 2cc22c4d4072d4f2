"""The parent waits for sub-agents."""

from __future__ import annotations

from fakes.codex_app_server import agents
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """A wait for `children` during which `steps` are played. It ends as `status`, else failed
    in v1 when one of them errored; with ``ends: false`` it never ends."""
    waited = [agents.named(turn.world, name) for name in step["children"]]
    named = [] if agents.activities(turn.world) else waited
    item = agents.call(turn, "wait", [agent.thread for agent in named])
    turn.play(step["steps"])
    if step["ends"]:
        bad = any(agent.state == "errored" for agent in named)
        agents.called(turn, item, named, step["status"] or ("failed" if bad else "completed"))


STEP = Step(play, may={"children": [], "steps": [], "status": "", "ends": True})
