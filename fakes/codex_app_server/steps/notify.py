"""Any notification, word for word."""

from __future__ import annotations

from typing import Any

from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """`method` with `params` as they are, nothing checked or cut. In strings ``$thread``,
    ``$turn`` and, for a sub-agent named ``a``, ``$a.thread`` and ``$a.turn`` stand for ids."""
    names = {}
    for name, agent in turn.world.agents.items():
        names[f"${name}.thread"] = agent.thread
        names[f"${name}.turn"] = agent.turn.id if agent.turn else ""
    names |= {"$thread": turn.thread, "$turn": turn.id}
    turn.world.wire.say({"method": step["method"], "params": _filled(step["params"], names)})


def _filled(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {key: _filled(inner, names) for key, inner in value.items()}
    if isinstance(value, list):
        return [_filled(inner, names) for inner in value]
    return names.get(value, value) if isinstance(value, str) else value


STEP = Step(play, needs={"method": str}, may={"params": {}})
