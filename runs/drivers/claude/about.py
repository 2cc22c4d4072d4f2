"""What a run of Claude Code can be told, what can be seen of it, what has no meaning for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runs.option import LEAVE, Option

OPTIONS: Final = (
    Option(
        "max_retries",
        "int",
        2,
        "Retries of a request that fails; -1: its own default (10, which takes minutes).",
    ),
    Option(
        "fallback",
        "bool",
        True,
        "Whether a stream that breaks is asked for again in one piece, as it does by itself.",
    ),
    Option(
        "background",
        "choice",
        "asked",
        "Whether its model says how a sub-agent runs, leaves it to the version's own default, "
        "or the background is switched off.",
        ("asked", "unset", "off"),
    ),
    Option(
        "permissions",
        "choice",
        "allow",
        "Whether commands run unasked, or need a permission that nobody can give.",
        ("allow", "ask"),
    ),
    Option(
        "stream_idle_timeout_ms",
        "int",
        LEAVE,
        "Milliseconds without an event (newer versions: without a byte) after which its watchdog "
        "ends a stream; -1: as it comes.",
    ),
    Option(
        "agent_stall_timeout_ms",
        "int",
        LEAVE,
        "Milliseconds without progress after which it gives up a sub-agent in the background; "
        "-1: its own (ten minutes in the newest).",
    ),
    Option(
        "agent_type",
        "choice",
        "general-purpose",
        "The kind of sub-agent.",
        ("general-purpose", "Explore"),
    ),
    Option("hooks", "bool", True, "Have its hooks note the starts and stops of sub-agents."),
    Option("model", "text", "claude-sonnet-4-5", "The model that it is told to use."),
)

OBSERVES: Final[Mapping[str, str]] = {
    "L1": "the stream's task_updated and task_notification, the sub-agent's own file, "
    "and the stop hooks",
    "L2": "the provider's journal against the terminals",
    "L3": "tool results and task notifications in the parent's file and stream",
    "L4": "the result line against tasks in the background",
    "L5": "the provider's journal, the stream and the files",
    "L6": "the provider's journal; retries are announced (attempt, delay) only where the parent "
    "waits for the sub-agent (background=off)",
    "L7": "the tool TaskStop against the sub-agent's end",
    "L9": "notifications name their task",
    "L10": "the process's end against its tasks",
    "L11": "refused spawn calls",
    "L12": "what a sub-agent's file has after its terminal",
    "L13": "stream, files and hooks against each other",
    "L14": "permissions that nobody can give are refused at once when it runs headless",
    "L15": "the answer async_launched against the sub-agent's first request",
    "L16": "the exit code and the result line against all tasks",
    "L18": "the model of each request",
}

_RESTART: Final = "the driver does not kill Claude Code and start it again"

NOT_APPLICABLE: Final[Mapping[str, str]] = {
    "L8": _RESTART,
    "L17": "what its watchdog over sub-agents does is written down as a failure like any other",
    "restart-running": _RESTART,
    "restart-ended": _RESTART,
    "restart-told": _RESTART,
    "response-failed": "the Messages protocol has no such event; its errors are sse-error's",
}

_ALONE: Final = "its sub-agents have no tool to delegate with"
_CLOSED: Final = "it has no tool that speaks to a sub-agent which has ended"

NOT_APPLICABLE_BEFORE: Final[Mapping[str, Mapping[str, str]]] = {
    "2.1.172": dict.fromkeys(("nested", "nested-slow", "deep", "grandchild-cut"), _ALONE),
    "2.1.220": dict.fromkeys(("follow-up", "follow-up-cut"), _CLOSED),
}
"""Measured on 2.1.170 and 2.1.172, and on 2.1.219 and 2.1.220."""
