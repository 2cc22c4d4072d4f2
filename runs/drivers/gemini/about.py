"""What a run of Gemini CLI can be told, what can be seen of it, what has no meaning for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runs.option import Option

OPTIONS: Final = (
    Option(
        "max_attempts",
        "int",
        4,
        "Attempts of a request; -1: its own default (10, which takes minutes).",
    ),
    Option(
        "agent_type",
        "choice",
        "generalist",
        "The kind of sub-agent.",
        ("generalist", "codebase_investigator"),
    ),
    Option("model", "text", "gemini-2.5-pro", "The model that it is told to use."),
)

OBSERVES: Final[Mapping[str, str]] = {
    "L1": "the state and the reason of the end in the root's session file; the status of the "
    "call in its stream",
    "L2": "the provider's journal against both",
    "L3": "the text of the invoke_agent call's result: finished, with a reason, or failed",
    "L5": "the provider's journal, the stream and the files",
    "L6": "the provider's journal; retries are announced nowhere",
    "L9": "a result belongs to the call that names it",
    "L10": "the process's end against its sub-agents",
    "L13": "the status in the stream against what is stored",
    "L15": "the call against the sub-agent's first request",
    "L16": "the exit code and the result line against all sub-agents",
}

_RESTART: Final = "the driver does not kill Gemini CLI and start it again"
_NO_LIMIT: Final = "nothing limits how many sub-agents run at once: no slot can be missing"
_WAITS: Final = "an invoke_agent call waits for its sub-agent"
_GONE: Final = "a sub-agent that has answered cannot be asked again"
_STOP: Final = "no tool stops a sub-agent"
_DEPTH: Final = "a sub-agent is not offered the tool that starts one"
_PERMISSION: Final = "headless, every tool is approved; nobody is there to be asked"

NOT_APPLICABLE: Final[Mapping[str, str]] = {
    "L4": "it says nothing of idle while its call waits",
    "L7": _STOP,
    "L8": _RESTART,
    "L11": "nothing limits how many sub-agents one turn starts",
    "L12": "a sub-agent is heard only until its call has ended",
    "L14": _PERMISSION,
    "L18": "a call cannot name the sub-agent's model, and nothing says which one was asked for",
    "L17": "it has no watchdog over sub-agents that shows itself",
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
    "nested": _DEPTH,
    "deep": _DEPTH,
    "nested-slow": _DEPTH,
    "grandchild-cut": _DEPTH,
    "child-asks": _PERMISSION,
    "other-model": "a call cannot name the sub-agent's model",
    "response-failed": "the Gemini protocol has no answer that says that it failed",
    "truncated-arguments": "the Gemini protocol has arguments as JSON, not as a text that can "
    "break off",
}
