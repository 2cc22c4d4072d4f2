"""A lone activity of a sub-agent."""

from __future__ import annotations

from fakes.codex_app_server import agents
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """``subAgentActivity`` of that `activity` for `child` on this thread: one that comes late,
    or twice."""
    agent = agents.named(turn.world, step["child"])
    agents.activity(turn, agent, step["activity"], step["id"])


STEP = Step(play, needs={"child": str, "activity": str}, may={"id": ""})
