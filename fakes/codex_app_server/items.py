"""Items that several kinds of steps begin."""

from __future__ import annotations

from fakes.codex_app_server.ids import prefixed
from fakes.codex_app_server.turn import Item, Turn


def begin_message(turn: Turn, text: str, chunks: int, phase: str | None) -> Item:
    """A message of the model and all its deltas, without its end."""
    identifier = prefixed("msg")
    item = turn.start_item("agentMessage", identifier, text="", phase=phase)
    size = max(1, -(-len(text) // max(1, chunks)))
    for start in range(0, len(text), size):
        piece = text[start : start + size]
        turn.notify("item/agentMessage/delta", itemId=identifier, delta=piece)
    return item


def begin_command(turn: Turn, command: str, cwd: str | None) -> Item:
    """A command that begins."""
    stored = turn.world.store.thread(turn.thread) or {}
    return turn.start_item(
        "commandExecution",
        prefixed("call"),
        command=command,
        cwd=cwd or stored.get("cwd") or "/",
        processId=None,
        source="agent",
        status="inProgress",
        commandActions=[],
        aggregatedOutput=None,
        exitCode=None,
        durationMs=None,
    )
