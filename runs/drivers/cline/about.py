"""What a run of Cline can be told, what can be seen of it, and what has no meaning for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runs.driver import Option

OPTIONS: Final = (
    Option(
        "mistakes",
        "int",
        6,
        "Mistakes of its model in a row after which it stops (its --retries); not retries of a "
        "request, which no switch sets.",
    ),
)

OBSERVES: Final[Mapping[str, str]] = {
    "L1": "agent_start, agent_end and agent_error in its stream, and the stored session's status",
    "L2": "the provider's journal against both",
    "L3": "finishReason in the result of the parent's spawn_agent call",
    "L5": "the provider's journal and the stream",
    "L6": "the provider's journal; retries are announced nowhere",
    "L9": "the order of calls and starts: a result does not name its sub-agent",
    "L10": "the process's end against its sub-agents",
    "L12": "what the stream has of a sub-agent after its end",
    "L13": "the stream against what is stored",
    "L15": "the spawn call against the sub-agent's first request",
    "L16": "the exit code and run_result against all sub-agents",
    "L18": "the model of each request",
}

_RESTART: Final = "the driver does not kill Cline and start it again"
_WAITS: Final = "spawn_agent waits for its sub-agent; its parent can do nothing meanwhile"

NOT_APPLICABLE: Final[Mapping[str, str]] = {
    "L4": "a session has no word for idle while sub-agents run: spawn_agent waits for them",
    "L7": "no tool stops a sub-agent that spawn_agent started",
    "L8": _RESTART,
    "L11": "nothing limits its sub-agents but a time of five minutes",
    "L14": "headless, every tool is approved; nobody is there to be asked",
    "L17": "it has no watchdog of its own over sub-agents",
    "restart-running": _RESTART,
    "restart-ended": _RESTART,
    "restart-told": _RESTART,
    "cancel-child": "no tool stops a sub-agent that spawn_agent started",
    "parent-polls": _WAITS,
    "parent-goes-on": _WAITS,
    "slow-child": _WAITS,
    "over-the-limit": "no setting limits how many sub-agents there are",
    "follow-up": "a sub-agent that has answered cannot be asked again",
    "follow-up-cut": "a sub-agent that has answered cannot be asked again",
    "child-asks": "headless, every tool is approved; nobody is there to be asked",
    "other-model": "a spawn_agent call cannot name the sub-agent's model",
    "response-failed": "the Chat Completions protocol has no such event",
}
