"""Something is said twice."""

from __future__ import annotations

from typing import Any

from fakes.codex_app_server import agents
from fakes.codex_app_server.step import Options, ScenarioError, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """The newest notification of that `method` on this thread (or that of `child`) comes again,
    word for word; `back` counts from the newest."""
    child = step["child"]
    thread = agents.named(turn.world, child).thread if child else turn.thread
    said = [
        message
        for message in turn.world.wire.said
        if message["method"] == step["method"] and _of(message) == thread
    ]
    if len(said) <= step["back"]:
        raise ScenarioError(f"{step['method']} was not said so often")
    turn.world.wire.say(said[-1 - step["back"]])


def _of(message: dict[str, Any]) -> Any:
    return message.get("params", {}).get("threadId")


STEP = Step(play, needs={"method": str}, may={"child": "", "back": 0})
