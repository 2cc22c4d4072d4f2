"""A thread's status changes."""

from __future__ import annotations

from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """``thread/status/changed`` to `status` on this thread, whatever is true."""
    turn.world.status(turn.thread, step["status"])


STEP = Step(play, needs={"status": str})
