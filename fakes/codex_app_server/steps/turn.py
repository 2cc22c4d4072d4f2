"""The server begins a turn by itself."""

from __future__ import annotations

from fakes.codex_app_server.scenario import plan
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """Another turn on this thread that nobody asked for, with `steps` of its own; with
    ``ends: false`` it stays open. Meant for ``after``, when the scripted turn is over."""
    world = turn.world
    follow_up = Turn(world, turn.thread)
    with world.lock:
        world.running[turn.thread] = follow_up
    follow_up.run(plan({"steps": step["steps"], "ends": step["ends"]}, "turn"))


STEP = Step(play, needs={"steps": list}, may={"ends": True})
