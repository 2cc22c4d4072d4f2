"""The outcome of a run in the public repro's words: one ordered table over plain facts.

Guards, damage and failures of the isolation come first and are never a
reproduction. `model-request-failed` means that a sub-agent's last model call
failed by the provider's journal. What each sub-agent's terminal says, and what
the parent was told, is not the outcome's business: that is for the laws.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Protocol

from runs.core.events import Kind
from runs.core.history import History

TIMEOUT = "timeout"
"""Name of the deadline's guard; the other guards' names are outcomes, too."""
_OURS = frozenset({"process", "harness", "provider", "config", "exit"})
"""Views that are not the agent's own word."""


class RuntimeFacts(Protocol):
    """What a driver found out about what ran."""

    @property
    def version(self) -> str: ...

    @property
    def problem(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """All that the table asks. Made by :func:`facts` from a history and a driver's answers."""

    guard: str = ""
    started: bool = True
    damaged: int = 0
    runtime_problem: str = ""
    requested_version: str = ""
    reported_version: str = ""
    foreign_advertised: tuple[str, ...] = ()
    foreign_executed: tuple[str, ...] = ()
    undelivered: bool = False
    child_requests: int = 0
    children_started: int = 0
    calls_failed: int = 0
    without_terminal: int = 0
    retry_claims: int = 0
    public_terminals: tuple[str, ...] = ()
    exit_code: int | None = None

    @property
    def other_version(self) -> bool:
        """Whether another version ran than the one that was asked for."""
        asked, ran = self.requested_version.lstrip("v"), self.reported_version.lstrip("v")
        return bool(asked and ran) and asked != ran


TABLE: tuple[tuple[str, Callable[[Facts], bool]], ...] = (
    ("guard-memory-floor", lambda told: told.guard == "guard-memory-floor"),
    ("guard-output-cap", lambda told: told.guard == "guard-output-cap"),
    ("guard-request-cap", lambda told: told.guard == "guard-request-cap"),
    (TIMEOUT, lambda told: told.guard == TIMEOUT),
    ("startup-failed", lambda told: not told.started),
    ("invalid-event-evidence", lambda told: told.damaged > 0),
    ("invalid-runtime-evidence", lambda told: bool(told.runtime_problem)),
    ("invalid-runtime-version", lambda told: told.other_version),
    ("invalid-tool-surface", lambda told: bool(told.foreign_advertised)),
    ("invalid-tool-call", lambda told: bool(told.foreign_executed)),
    ("invalid-fault-not-delivered", lambda told: told.undelivered),
    ("no-subagent-request", lambda told: told.child_requests == 0),
    ("no-subagent-started", lambda told: told.children_started == 0),
    ("model-request-failed", lambda told: told.calls_failed > 0),
    ("no-terminal-event", lambda told: told.without_terminal > 0),
    ("completed", lambda told: True),
)
"""Outcome and when it is that; the first that matches is the outcome."""

OUTCOMES: tuple[str, ...] = tuple(name for name, _ in TABLE)


def outcome(told: Facts) -> str:
    """The outcome: the first row of the table that matches."""
    return next(name for name, matches in TABLE if matches(told))


def public_outcome(told: Facts) -> str:
    """The class that the public script gives, misjudgements included.

    It knows no agents: any retry claim is a failed model request, and without
    one only a completed terminal counts, so that a failure without retries has
    “no terminal”.
    """
    ours = outcome(told)
    if ours not in ("model-request-failed", "no-terminal-event", "completed"):
        return "guard" if ours.startswith("guard-") else ours
    if told.retry_claims:
        return "model-request-failed"
    words = set(told.public_terminals)
    if "completed" in words and "failed" not in words:
        return "completed"
    return "no-terminal-event"


def facts(
    history: History,
    *,
    requested_version: str = "",
    runtime: RuntimeFacts | None = None,
    allowed_tools: Collection[str] = (),
    executed_tools: Mapping[str, int] | None = None,
    aimed: bool = False,
    delivered: bool = True,
) -> Facts:
    """Gather the facts: from the history, and from what the driver says about its agent.

    An empty `allowed_tools` allows all. `aimed`: the scenario has faults; `delivered`:
    each of them acted at least once.
    """
    exits = history.of(Kind.PROCESS_EXITED)
    code = exits[-1].get("code") if exits else None
    guards = history.of(Kind.GUARD)
    return Facts(
        guard=str(guards[0].get("guard") or "") if guards else "",
        started=_started(history),
        damaged=sum(event.source not in _OURS for event in history.losses),
        runtime_problem=runtime.problem if runtime is not None else "",
        requested_version=requested_version,
        reported_version=(runtime.version if runtime is not None else "") or _version(history),
        foreign_advertised=_foreign(_advertised(history), allowed_tools),
        foreign_executed=_foreign(executed_tools or {}, allowed_tools),
        undelivered=aimed and not delivered,
        child_requests=sum(
            _is_child(attempt.caller, attempt.agent, history) for attempt in history.attempts
        ),
        children_started=len({event.agent for event in history.of(Kind.AGENT_STARTED)}),
        calls_failed=_failed_callers(history),
        without_terminal=sum(not run.ends for run in history.runs),
        retry_claims=len(history.of(Kind.RETRY_CLAIM)),
        public_terminals=tuple(_public_terminal(history, view) for view in ("stdout", "session")),
        exit_code=code if isinstance(code, int) else None,
    )


def _started(history: History) -> bool:
    """Whether the agent came to work at all: it said something, or asked a model."""
    if history.attempts:
        return True
    return any(event.source not in _OURS for event in history.events)


def _version(history: History) -> str:
    for event in history.of(Kind.SESSION_STARTED):
        if event.get("version"):
            return str(event.get("version"))
    return ""


def _advertised(history: History) -> dict[str, int]:
    """Tools that parent and sub-agents were offered, with how often."""
    found: dict[str, int] = {}
    for event in history.of(Kind.REQUEST_RECEIVED):
        for name in event.get("tools") or ():
            found[str(name)] = found.get(str(name), 0) + 1
    return found


def _foreign(tools: Mapping[str, int], allowed: Collection[str]) -> tuple[str, ...]:
    return tuple(name for name in tools if name not in allowed) if allowed else ()


def _is_child(caller: str, agent: str, history: History) -> bool:
    if caller.startswith(("child:", "grandchild:")):
        return True
    return agent not in ("", history.root)


def _failed_callers(history: History) -> int:
    """Sub-agents whose last model call failed, by the provider's journal."""
    last = {
        call.caller: call for call in history.calls if _is_child(call.caller, call.agent, history)
    }
    return sum(
        call.failed and not _gave_up_unhurt(call.last.closed, call.last.fault)
        for call in last.values()
    )


def _gave_up_unhurt(closed: str, fault: str | None) -> bool:
    """Still open, or hung up by the agent itself with nothing broken: no failure of the call."""
    return closed == "open" or (closed == "client-gone" and not fault)


def _public_terminal(history: History, view: str) -> str:
    """Terminal of one source over all agents: failed if any, else completed, else started-only."""
    words = {run.terminal(view) for run in history.runs}
    for word in ("failed", "completed", "started-only"):
        if word in words:
            return word
    return "none"
