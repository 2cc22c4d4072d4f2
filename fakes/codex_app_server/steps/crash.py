"""The server dies in the middle of the turn."""

from __future__ import annotations

import os

from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """The process exits with `code` and `stderr`: no turn is kept, none is completed."""
    if step["stderr"]:
        os.write(2, (step["stderr"] + "\n").encode())
    turn.world.transcript.event("crash", code=step["code"])
    os._exit(step["code"])


STEP = Step(play, may={"code": 1, "stderr": ""})
