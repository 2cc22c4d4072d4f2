"""Claude Code's calls of tools, and what the one that spawns came back with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from runs.transcripts._values import length, number, seconds, status, text


@dataclass(slots=True)
class Call:
    """A tool call that was begun."""

    tool: str
    agent: str
    background: bool | None = None


@dataclass(frozen=True, slots=True)
class Answer:
    """What a spawn came back with: a sub-agent that was launched, or what became of it."""

    child: str
    word: str
    """The result object's word, empty where there is none."""
    failed: bool
    size: int
    launched: bool | None
    """None where nothing says it: old logs and short ones have no result object."""
    duration: float | None
    model: str = ""
    """The model that it says the sub-agent is given."""

    @property
    def raw(self) -> str:
        """Its own word for that, or where we have it from."""
        return self.word or "tool_result"

    @property
    def status(self) -> str:
        """Our word for what became of the sub-agent."""
        return "failed" if self.failed else status(self.word) if self.word else "completed"


def answer(block: Mapping[str, Any], told: Mapping[str, Any]) -> Answer:
    """Read a spawn's `tool_result` block and the result object beside it."""
    word, failed = text(told.get("status"), 40), block.get("is_error") is True
    unsaid = not word and not failed and "content" not in told
    return Answer(
        child=text(told.get("agentId")),
        word=word,
        failed=failed,
        size=length(told.get("content") if "content" in told else block.get("content")),
        launched=None if unsaid else told.get("isAsync") is True or word == "async_launched",
        duration=seconds(number(told.get("totalDurationMs"))),
        model=text(told.get("resolvedModel")),
    )
