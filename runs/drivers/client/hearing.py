"""What an owner hears in a message of Codex's app-server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from runs.core import owning as o

_OVER = {
    "completed": "completed",
    "errored": "failed",
    "interrupted": "interrupted",
    "shutdown": "interrupted",
    "notFound": "failed",
}
_COMPLETED = "subagent-completed-"


def heard(message: Mapping[str, Any], thread: str, generation: int = 1) -> Iterator[o.Heard]:
    """The facts in one notification; `thread` is the owner's."""
    method = str(message.get("method", ""))
    params = _table(message.get("params"))
    of = str(params.get("threadId", ""))
    turn = _table(params.get("turn"))
    name = str(turn.get("id", ""))
    if method == "turn/started":
        if of == thread:
            yield o.TurnStarted(thread=of, turn=name, generation=generation)
        else:
            yield o.ChildActive(child=of, turn=name, generation=generation)
    elif method == "turn/completed":
        status = str(turn.get("status", ""))
        if of == thread:
            yield o.TurnEnded(thread=of, turn=name, status=status, generation=generation)
        else:
            yield o.ChildEnded(child=of, how=status, turn=name, generation=generation)
    elif method in ("item/started", "item/completed"):
        done = method == "item/completed"
        yield from _item(_table(params.get("item")), params, thread, generation, done)
    elif method == "thread/goal/updated" and of == thread:
        goal = _table(params.get("goal"))
        yield o.Goal(active=goal.get("status") == "active", generation=generation)
    elif method == "thread/goal/cleared" and of == thread:
        yield o.Goal(active=False, generation=generation)


def _item(
    item: Mapping[str, Any], params: Mapping[str, Any], thread: str, generation: int, done: bool
) -> Iterator[o.Heard]:
    kind = item.get("type")
    of, turn = str(params.get("threadId", "")), str(params.get("turnId", ""))
    if kind == "agentMessage" and done and of == thread:
        if item.get("phase") in (None, "final_answer"):
            said = str(item.get("text", ""))
            yield o.Said(thread=of, turn=turn, text=said, generation=generation)
    elif kind == "subAgentActivity":
        yield from _activity(item, of, turn, generation)
    elif kind == "collabAgentToolCall" and done:
        yield from _call(item, turn, generation)


def _activity(
    item: Mapping[str, Any], sender: str, turn: str, generation: int
) -> Iterator[o.Heard]:
    child, word = str(item.get("agentThreadId", "")), item.get("kind")
    if word == "started":
        yield o.Spawned(sender=sender, child=child, turn=turn, generation=generation)
    elif word in ("completed", "interrupted"):
        name = str(item.get("id", ""))
        ended = name.removeprefix(_COMPLETED) if name.startswith(_COMPLETED) else ""
        yield o.ChildEnded(child=child, how=str(word), turn=ended, generation=generation)
    else:
        yield o.ChildActive(child=child, generation=generation)


def _call(item: Mapping[str, Any], turn: str, generation: int) -> Iterator[o.Heard]:
    sender = str(item.get("senderThreadId", ""))
    receivers = item.get("receiverThreadIds")
    if item.get("tool") == "spawnAgent" and isinstance(receivers, list):
        for child in receivers:
            yield o.Spawned(sender=sender, child=str(child), turn=turn, generation=generation)
    for child, state in _table(item.get("agentsStates")).items():
        status = state.get("status") if isinstance(state, Mapping) else state
        if status in _OVER:
            yield o.ChildEnded(child=child, how=_OVER[str(status)], generation=generation)


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
