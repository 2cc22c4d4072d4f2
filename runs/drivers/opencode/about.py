"""What a run of OpenCode can be told, what can be seen of it, and what has no meaning for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runs.option import LEAVE, Option, dialect_option

PACKAGES: Final = {
    "chat_completions": "@ai-sdk/openai-compatible",
    "responses": "@ai-sdk/openai",
    "messages": "@ai-sdk/anthropic",
}
"""The provider package that speaks a dialect; all three are in the executable."""
OPTIONS: Final = (
    dialect_option(tuple(PACKAGES)),
    Option(
        "form",
        "choice",
        "serve",
        "How it is run: its server driven over HTTP with its bus of events, or one prompt on "
        "the command line, whose output shows the parent only.",
        ("serve", "run"),
    ),
    Option(
        "background",
        "bool",
        False,
        "Let sub-agents run in the background (an experiment of newer versions); else the "
        "parent waits for each in its call.",
    ),
    Option("agent_type", "choice", "general", "The kind of sub-agent.", ("general", "explore")),
    Option(
        "subagent_depth",
        "int",
        1,
        "How deep sub-agents may nest; from 2 on each may delegate, too (without a limit where a "
        "version has no limit).",
    ),
    Option(
        "permissions",
        "choice",
        "allow",
        "Whether commands run unasked, or the client is asked (run: nobody is there to ask).",
        ("allow", "ask"),
    ),
    Option(
        "interrupt",
        "choice",
        "none",
        "Whose session the client aborts while a sub-agent works (serve only).",
        ("none", "parent", "child"),
    ),
    Option(
        "chunk_timeout_ms",
        "int",
        LEAVE,
        "Milliseconds without a piece of a stream after which it is given up; -1: its own "
        "default (300000 in 1.18.33, none in older versions).",
    ),
)

OBSERVES: Final[Mapping[str, str]] = {
    "L1": "a session's own busy, error and idle on the bus, and its last stored message",
    "L2": "the provider's journal against both",
    "L3": "the result of the parent's task call; a notice where it runs in the background",
    "L4": "the parent's session.status against children that are busy",
    "L5": "the provider's journal and the bus",
    "L6": "the provider's journal against session.status retry (attempt, next)",
    "L7": "our client's abort of a session; a model has no tool to cancel",
    "L9": "the task call's result names the session",
    "L10": "the end of the parent's session against its children's",
    "L11": "task calls that are refused for depth",
    "L12": "what a session does after its idle",
    "L13": "the bus against what is stored",
    "L14": "the bus's permission.asked and the client's answer",
    "L15": "the task call against the child's first request",
    "L16": "the answer to the prompt, of which our client makes the exit code; with form=run the "
    "agent's own exit code",
    "L18": "the model of each request",
}

_RESTART: Final = "the driver does not kill OpenCode and start it again"
_SPEAKS: Final = "the driver hands over the operator's one prompt and says nothing more"
_SERVER: Final = "it is no client of another agent's app-server"
_CANCEL: Final = "no version gives the model a tool that stops a sub-agent"
_NO_MODEL: Final = "a task call cannot name the sub-agent's model"
_NO_LIMIT: Final = "nothing limits how many sub-agents run at once: no slot can be missing"

NOT_APPLICABLE: Final[Mapping[str, str]] = {
    "L8": _RESTART,
    "L17": "it has no watchdog of its own over sub-agents",
    "restart-running": _RESTART,
    "restart-ended": _RESTART,
    "restart-told": _RESTART,
    "restart-unread": _RESTART,
    "runner-gone": _RESTART,
    "message-to-child": _SPEAKS,
    "second-message": _SPEAKS,
    "setup-failure": "a sub-agent runs in its parent's server: nothing is set up for it",
    "client-rule": _SERVER,
    "client-child-first": _SERVER,
    "client-child-outlives": _SERVER,
    "cancel-child": _CANCEL,
    "other-model": _NO_MODEL,
    "over-the-limit": _NO_LIMIT,
    "one-at-a-time": _NO_LIMIT,
    "parent-polls": "the parent waits in its call; there is no tool that asks meanwhile",
}
