"""Tokens used."""

from __future__ import annotations

from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn


def play(turn: Turn, step: Options) -> None:
    """``thread/tokenUsage/updated``: these tokens as the last, added to those of the thread."""
    last = {
        "totalTokens": step["input"] + step["output"],
        "inputTokens": step["input"],
        "cachedInputTokens": step["cached"],
        "cacheWriteInputTokens": 0,
        "outputTokens": step["output"],
        "reasoningOutputTokens": step["reasoning"],
    }
    before = turn.world.usage.get(turn.thread, {})
    total = {key: number + before.get(key, 0) for key, number in last.items()}
    turn.world.usage[turn.thread] = total
    usage = {"total": total, "last": last, "modelContextWindow": step["window"]}
    turn.notify("thread/tokenUsage/updated", tokenUsage=usage)


STEP = Step(play, may={"input": 0, "cached": 0, "output": 0, "reasoning": 0, "window": 258_400})
