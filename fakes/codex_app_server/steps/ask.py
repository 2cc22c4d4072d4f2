"""Any other request to the client."""

from __future__ import annotations

from fakes.codex_app_server import payloads
from fakes.codex_app_server.ids import prefixed
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """Sends `method` with `params` (and thread, turn, item); the answer is checked."""
    base = {"itemId": prefixed("call"), "startedAtMs": payloads.milliseconds()}
    turn.ask(step["method"], **{**base, **step["params"]})


STEP = Step(play, needs={"method": str}, may={"params": {}})
