"""What a run of omnigent can be told, what can be seen of it, and what has no meaning for it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from runs.option import Option

NEVER: Final = "never"
_MOMENTS: Final = ("parent-running", "child-running", "child-ended", "child-woken", "child-told")
"""The parent's first turn began; the child streams; its end is known; its parent is woken; its
parent has read its result."""

OPTIONS: Final = (
    Option(
        "form",
        "choice",
        "whole",
        "What is started: server, runner and harness, or the runner alone, which acknowledges "
        "messages as accepted or buffered and cannot make a sub-agent: of the moments below only "
        "parent-running comes.",
        ("whole", "runner"),
    ),
    Option(
        "setup",
        "choice",
        "whole",
        "Whether its harnesses can be set up: a broken one names a provider that does not exist, "
        "one without its command runs a CLI that is not installed.",
        ("whole", "child-broken", "parent-broken", "child-without-command"),
    ),
    Option(
        "depth",
        "int",
        3,
        "How deep its agent lets sub-agents be declared below it.",
        low=1,
    ),
    Option(
        "restart",
        "choice",
        NEVER,
        "When the runner is killed (SIGKILL) and started again under the same identity.",
        (NEVER, *_MOMENTS),
    ),
    Option(
        "kill",
        "choice",
        NEVER,
        "When the runner is killed (SIGKILL) and stays away.",
        (NEVER, *_MOMENTS),
    ),
    Option(
        "speak",
        "choice",
        NEVER,
        "When the operator sends the session that is at work a second message.",
        (NEVER, "parent-running", "child-running"),
    ),
    Option(
        "interrupt",
        "choice",
        NEVER,
        "When the operator interrupts the session that is at work.",
        (NEVER, "parent-running", "child-running"),
    ),
)

OBSERVES: Final[Mapping[str, str]] = {
    "L1": "the child's row on its parent's stream, and its stored session",
    "L2": "the provider's journal against both",
    "L3": "the wake message on the parent's stream, and what it reads from its inbox",
    "L4": "the parent's session.status against children that run; the stream, never a snapshot",
    "L5": "the provider's journal and both streams",
    "L6": "the provider's journal; no retry is announced, each has its number in a header",
    "L7": "the parent's sys_cancel_task, our client's interrupt, and the calls that it gives up",
    "L8": "the streams over a runner that was killed and started again, and what is stored of a "
    "conversation against what its model is asked then",
    "L9": "the session that a wake and an inbox item name",
    "L10": "the end of the parent's turns against its children's",
    "L11": "sends that are refused; it has no limit of its own on how many or how deep",
    "L12": "what a session's stream shows after its end",
    "L13": "the streams against what is stored",
    "L15": "the parent's sys_session_send against the child's first request",
    "L16": "the parent's last status; the exit code is our client's and follows it",
    "L18": "the model of each request",
}

_SHELL: Final = "an agent without a shell has no tool that asks, or that stays silent"
_BACKGROUND: Final = "a send returns at once: no sub-agent is waited for in its call"

NOT_APPLICABLE: Final[Mapping[str, str]] = {
    "L14": _SHELL,
    "L17": "it has no watchdog of its own over sub-agents",
    "child-asks": _SHELL,
    "quiet-tool": _SHELL,
    "sync-child": _BACKGROUND,
    "sync-child-cut": _BACKGROUND,
    "one-at-a-time": _BACKGROUND,
    "spawn-after-many": _BACKGROUND,
    "response-failed": "chat completions have no such event",
}

_LEAF: Final = "its sub-agents are declared none of their own: their model has no tool to delegate"

NOT_APPLICABLE_WITH: Final[Mapping[tuple[str, str], Mapping[str, str]]] = {
    ("depth", "1"): dict.fromkeys(("nested", "nested-slow", "grandchild-cut", "deep"), _LEAF),
    ("depth", "2"): {"deep": "its sub-agents of that depth are declared none of their own"},
}
"""Its harness takes a call of a tool that was not offered as the end of the turn."""
