"""The turn fails."""

from __future__ import annotations

from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Failed, Turn


def play(turn: Turn, step: Options) -> None:
    """The turn ends as failed with `message`; later steps are not played."""
    raise Failed(step["message"])


STEP = Step(play, needs={"message": str})
