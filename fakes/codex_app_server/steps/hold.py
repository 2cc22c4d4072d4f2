"""The script waits for the test."""

from __future__ import annotations

import time

from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Interrupted, Turn

FOLDER = "released"
"""Folder of the state folder with one empty file for each released hold."""


def play(turn: Turn, step: Options) -> None:
    """Nothing until the test releases `name`: a checkpoint instead of a pause. The transcript
    shows when it is reached (``hold``) and left (``released``). An interrupt of the turn ends
    it too, unless ``interruptible: false``."""
    world, name = turn.world, step["name"]
    world.transcript.event("hold", name=name, thread=turn.thread, turn=turn.id)
    gate = world.folder / FOLDER / name
    while not gate.exists():
        stopped = turn.interrupted.wait(0.01)
        if stopped and step["interruptible"]:
            raise Interrupted
        if stopped:
            time.sleep(0.01)
    world.transcript.event("released", name=name)


STEP = Step(play, needs={"name": str}, may={"interruptible": True})
