"""The server tells of an error that need not end the turn."""

from __future__ import annotations

from fakes.codex_app_server import payloads
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """An ``error`` notification with `message`; only ``turn/completed`` ends the turn."""
    failure = payloads.failure(step["message"], step["info"] or "other", step["details"])
    turn.notify("error", error=failure, willRetry=step["will_retry"])


STEP = Step(
    play,
    needs={"message": str},
    may={"will_retry": True, "info": None, "details": None},
)
