"""The connection drops."""

from __future__ import annotations

import os

from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """The client sees the end of our output in the middle of the turn. The process exits 0,
    or, with ``lives: true``, stays and plays on without being heard."""
    turn.world.transcript.event("drop", lives=step["lives"])
    turn.world.wire.close()
    if not step["lives"]:
        os._exit(0)


STEP = Step(play, may={"lives": False})
