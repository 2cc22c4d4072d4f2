"""What a run of Cline can be told, what can be seen of it, and what has no meaning for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runs.option import Option

OPTIONS: Final = (
    Option(
        "delegation",
        "choice",
        "spawn_agent",
        "How its model delegates: by spawn_agent, which always waits for the sub-agent, or to "
        "teammates (team_run_task), in the background where the scenario wants that.",
        ("spawn_agent", "team"),
    ),
    Option(
        "mistakes",
        "int",
        6,
        "Mistakes of its model in a row after which it stops (its --retries); not retries of a "
        "request, which no switch sets.",
    ),
)

OBSERVES: Final[Mapping[str, str]] = {
    "L1": "the agent_start, agent_end and agent_error of its stream (a teammate's: task_start and "
    "task_end), and the stored session's status",
    "L2": "the provider's journal against both",
    "L3": "the finishReason in the result of a parent's spawn_agent call; the results of a team's "
    "calls, and the messages of finished runs that Cline delivers, in its stored conversation",
    "L5": "the provider's journal and the stream",
    "L6": "the provider's journal; retries are announced nowhere",
    "L7": "a call of team_cancel_run against what the teammate does afterwards; nothing stops a "
    "sub-agent that spawn_agent started",
    "L9": "the order of calls and starts: a result does not name its sub-agent",
    "L10": "the process's end against its sub-agents",
    "L12": "what the stream has of a sub-agent after its end",
    "L13": "the stream against what is stored; it exits before a long stream is written whole",
    "L15": "the spawn call against the sub-agent's first request",
    "L16": "the exit code and run_result against all sub-agents",
    "L18": "the model of each request",
}

_RESTART: Final = "the driver does not kill Cline and start it again"

NOT_APPLICABLE: Final[Mapping[str, str]] = {
    "L4": "a session has no word for idle while sub-agents run: it waits for them",
    "L8": _RESTART,
    "L11": "nothing refuses a sub-agent: of a team's runs in the background all but two wait",
    "L14": "headless, every tool is approved; nobody is there to be asked",
    "L17": "it has no watchdog of its own over sub-agents",
    "restart-running": _RESTART,
    "restart-ended": _RESTART,
    "restart-told": _RESTART,
    "child-asks": "headless, every tool is approved; nobody is there to be asked",
    "other-model": "no call can name the sub-agent's model",
    "response-failed": "the Chat Completions protocol has no such event",
}

_WAITS: Final = "spawn_agent waits for its sub-agent; its parent can do nothing meanwhile"
_NO_LIMIT: Final = "nothing limits the sub-agents of spawn_agent: no slot can be missing"
_GONE: Final = "a sub-agent of spawn_agent that has answered cannot be asked again"
_DEPTH: Final = "a teammate is not offered the tools that make one"

NOT_APPLICABLE_WITH: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("delegation", "spawn_agent"): {
        "cancel-child": "no tool stops a sub-agent that spawn_agent started",
        "parent-polls": _WAITS,
        "parent-goes-on": _WAITS,
        "slow-child": _WAITS,
        "over-the-limit": _NO_LIMIT,
        "one-at-a-time": _NO_LIMIT,
        "follow-up": _GONE,
        "follow-up-cut": _GONE,
    },
    ("delegation", "team"): {
        "nested": _DEPTH,
        "deep": _DEPTH,
        "nested-slow": _DEPTH,
        "grandchild-cut": _DEPTH,
    },
}
