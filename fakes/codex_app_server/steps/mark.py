"""A line in the transcript."""

from __future__ import annotations

from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """An event ``mark`` with `name`: the test sees how far the script came."""
    turn.world.transcript.event("mark", name=step["name"], thread=turn.thread, turn=turn.id)


STEP = Step(play, needs={"name": str})
