"""What a run of pi can be told, what can be seen of it, and what has no meaning for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runs.option import LEAVE, Option, dialect_option

APIS: Final = {
    "chat_completions": "openai-completions",
    "responses": "openai-responses",
    "messages": "anthropic-messages",
}
"""Its own word for a dialect."""

OPTIONS: Final = (
    dialect_option(tuple(APIS)),
    Option(
        "max_retries",
        "int",
        LEAVE,
        "Retries of a turn that failed; -1: its own default (3). Each may be several requests: "
        "its provider's client retries as well.",
    ),
    Option(
        "provider_retries",
        "int",
        LEAVE,
        "Retries of one request by its provider's client; -1: that client's own default (2).",
    ),
)

OBSERVES: Final[Mapping[str, str]] = {
    "L1": "the stopReason in the details of its subagent call, and a note of the process itself",
    "L2": "the provider's journal against both",
    "L3": "the isError and the text of a subagent call's result",
    "L5": "the provider's journal and the stream",
    "L6": "the provider's journal; retries are announced (attempt, delay) only for the root",
    "L9": "a result belongs to the call that names it",
    "L10": "the process's end against its sub-agents",
    "L13": "stream, session file and the notes of our extension against each other",
    "L15": "the call against the sub-agent's first request",
    "L16": "the exit code and the last message against all sub-agents",
}

_RESTART: Final = "the driver does not kill pi and start it again"
_NO_LIMIT: Final = "nothing limits how many calls run at once: no slot can be missing"
_WAITS: Final = "the example extension's call waits for its sub-agent"
_GONE: Final = "a sub-agent is a process that ends with its answer; it cannot be asked again"
_STOP: Final = "the example extension has no tool that stops a sub-agent"
_PERMISSION: Final = "it has no permissions: every tool runs unasked"

NOT_APPLICABLE: Final[Mapping[str, str]] = {
    "L4": "it says nothing of idle while its call waits",
    "L7": _STOP,
    "L8": _RESTART,
    "L11": "one call starts one sub-agent here; nothing limits how many calls there are",
    "L12": "a sub-agent is heard only until its call has ended",
    "L14": _PERMISSION,
    "L18": "a call cannot name the sub-agent's model, and nothing says which one was asked for",
    "L17": "it has no watchdog over sub-agents",
    "restart-running": _RESTART,
    "restart-ended": _RESTART,
    "restart-told": _RESTART,
    "cancel-child": _STOP,
    "parent-polls": _WAITS,
    "parent-goes-on": _WAITS,
    "slow-child": _WAITS,
    "over-the-limit": _NO_LIMIT,
    "one-at-a-time": _NO_LIMIT,
    "follow-up": _GONE,
    "follow-up-cut": _GONE,
    "child-asks": _PERMISSION,
    "other-model": "a call cannot name the sub-agent's model",
}

_NO_EVENT: Final = {"response-failed": "the dialect has no event that says so; responses has one"}
NOT_APPLICABLE_WITH: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("dialect", "chat_completions"): _NO_EVENT,
    ("dialect", "messages"): _NO_EVENT,
}
