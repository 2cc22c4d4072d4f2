"""What a run of Codex can be told, what can be seen of it, and what has no meaning for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runs.drivers.codex.restart import MOMENTS, NEVER
from runs.option import Option

OPTIONS: Final = (
    Option(
        "form",
        "choice",
        "app-server",
        "How it is run: talked to over JSON-RPC, or with one prompt on its command line.",
        ("app-server", "exec"),
    ),
    Option(
        "multi_agent",
        "choice",
        "v2",
        "The generation of its sub-agents.",
        ("v1", "v2"),
    ),
    Option(
        "permissions",
        "choice",
        "allow",
        "Whether commands run unasked, or the client is asked (exec: nobody is there to ask).",
        ("allow", "ask"),
    ),
    Option(
        "interrupt",
        "choice",
        "none",
        "Whose turn the client interrupts once the parent waits for a sub-agent (app-server only).",
        ("none", "parent", "child"),
    ),
    Option(
        "restart",
        "choice",
        NEVER,
        "When the app-server is killed (SIGKILL) and started again on the same home.",
        (NEVER, *MOMENTS),
    ),
    Option("request_max_retries", "int", 2, "Retries of a request; -1: its own default (4)."),
    Option("stream_max_retries", "int", 2, "Retries of a stream; -1: its own default (5)."),
    Option(
        "stream_idle_timeout_ms",
        "int",
        1500,
        "Milliseconds without an event after which a stream fails; -1: its own default (300000).",
    ),
    Option(
        "unbounded_retries",
        "bool",
        True,
        "Leave it to try without bound while there is no network (0.160 and later do).",
    ),
    Option("max_children", "int", -1, "Sub-agents that may run at once; -1: its own default."),
    Option("max_depth", "int", -1, "How deep delegation may go; -1: its own default (1)."),
    Option("wait_ms", "int", 60_000, "How long the parent's model waits for its sub-agents."),
)

OBSERVES: Final[Mapping[str, str]] = {
    "L1": "each thread's own turn, live and in its rollout",
    "L2": "the provider's journal against the turn's status; 0.120 stores no error",
    "L3": "messages between agents in the parent's rollout, and what a wait answers",
    "L4": "thread/status/changed against the threads that run",
    "L5": "the provider's journal and both logs; a wait counts as the parent's tool",
    "L6": "the provider's journal against the retries that it announces (app-server only)",
    "L7": "interrupts against the threads' ends",
    "L8": "threads over an app-server that was killed and started again (app-server only)",
    "L9": "messages between agents name their author",
    "L10": "the process's end against its threads",
    "L11": "refused spawn calls",
    "L12": "what a thread writes after its end",
    "L13": "the parent's thread against the sub-agent's own and its rollout; items without an end",
    "L14": "requests for approval and the client's answers (app-server only)",
    "L15": "spawn answers against the sub-agent's first request",
    "L16": "the exit code against all threads; an app-server ends with 0 when its input closes",
    "L18": "the model of each request against the one that was asked for",
}

NOT_APPLICABLE: Final[Mapping[str, str]] = {
    "other-model": "Codex starts no sub-agent on a model that its own list does not have",
    "sync-child": "every sub-agent of Codex runs in the background",
    "sync-child-cut": "every sub-agent of Codex runs in the background",
}

_ONE_PROMPT: Final = "one prompt on the command line has no client that could"
NOT_APPLICABLE_WITH: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("form", "exec"): {
        "restart-running": f"{_ONE_PROMPT} start it again and resume its thread",
        "restart-ended": f"{_ONE_PROMPT} start it again and resume its thread",
        "restart-told": f"{_ONE_PROMPT} start it again and resume its thread",
        "interrupt-parent": f"{_ONE_PROMPT} interrupt a turn",
        "interrupt-child": f"{_ONE_PROMPT} interrupt a turn",
        "child-asks": f"{_ONE_PROMPT} be asked",
    },
    ("multi_agent", "v1"): {
        "parent-polls": "its first generation has no tool that lists the sub-agents",
    },
}
