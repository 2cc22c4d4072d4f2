"""Something goes on for a while."""

from __future__ import annotations

import time

from fakes.codex_app_server.items import begin_command
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Interrupted, Turn


def play(turn: Turn, step: Options) -> None:
    """A command that prints `text` every `interval` seconds for `seconds`; an interrupt ends it
    at the next tick."""
    item = begin_command(turn, "progress", None)
    ticks = max(1, round(step["seconds"] / max(step["interval"], 0.01)))
    output = ""
    for _ in range(ticks):
        if turn.interrupted.wait(step["seconds"] / ticks):
            turn.end_item(item, status="failed", aggregatedOutput=output)
            raise Interrupted
        output += step["text"]
        turn.notify("item/commandExecution/outputDelta", itemId=item["id"], delta=step["text"])
    duration = int(time.time() * 1000) - item["startedAtMs"]
    turn.end_item(
        item, status="completed", aggregatedOutput=output, exitCode=0, durationMs=duration
    )


STEP = Step(play, needs={"seconds": float}, may={"interval": 0.5, "text": "."})
