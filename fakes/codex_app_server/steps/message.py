"""The model says something."""

from __future__ import annotations

from fakes.codex_app_server.items import begin_message
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """`text` in as many deltas as `chunks` says; `phase` is null, commentary or final_answer."""
    item = begin_message(turn, step["text"], step["chunks"], step["phase"])
    turn.end_item(item, text=step["text"])


STEP = Step(play, needs={"text": str}, may={"chunks": 1, "phase": None})
