"""The context is compacted."""

from __future__ import annotations

from fakes.codex_app_server.ids import fresh
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """A ``contextCompaction`` item."""
    turn.end_item(turn.start_item("contextCompaction", fresh()))


STEP = Step(play)
