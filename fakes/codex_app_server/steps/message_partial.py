"""The model begins to say something and never ends."""

from __future__ import annotations

from fakes.codex_app_server.items import begin_message
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """Deltas of `text` without ``item/completed``; the item is not kept."""
    begin_message(turn, step["text"], step["chunks"], step["phase"])


STEP = Step(play, needs={"text": str}, may={"chunks": 1, "phase": None})
