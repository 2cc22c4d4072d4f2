"""The model asks for more permissions."""

from __future__ import annotations

from fakes.codex_app_server import payloads
from fakes.codex_app_server.ids import prefixed
from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """Asks the client for the network, with `reason`; its answer is checked and recorded."""
    stored = turn.world.store.thread(turn.thread) or {}
    turn.ask(
        "item/permissions/requestApproval",
        itemId=prefixed("call"),
        startedAtMs=payloads.milliseconds(),
        cwd=stored.get("cwd") or "/",
        reason=step["reason"],
        permissions={"network": {"enabled": True}, "fileSystem": None},
    )


STEP = Step(play, may={"reason": None})
