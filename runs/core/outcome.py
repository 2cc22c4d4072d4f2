"""The outcome: the run's class in the public repro's words, by one ordered table.

The first row whose question is answered yes is the outcome. Guards, damage and a
failed isolation come first: they are never a reproduction. `model-request-failed`
means that a sub-agent's last model call failed, by the provider's journal.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from runs.core.events import Event, Kind
from runs.core.history import History


class Runtime(Protocol):
    """What the run itself said about what ran (a driver's answer)."""

    @property
    def version(self) -> str: ...

    @property
    def problem(self) -> str: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Everything that the table asks."""

    guard: str = ""
    started: bool = True
    """Whether the agent did anything that shows that it started."""
    exit_code: int | None = None
    damaged: bool = False
    runtime_problem: str = ""
    requested_version: str = ""
    reported_version: str = ""
    foreign_advertised: tuple[str, ...] = ()
    foreign_executed: tuple[str, ...] = ()
    delivered: bool = True
    subagent_asked: bool = False
    subagent_started: bool = False
    subagent_failed: bool = False
    subagent_ended: bool = False
    public: Mapping[str, object] = field(default_factory=dict)


TABLE: tuple[tuple[str, Callable[[Facts], bool]], ...] = (
    ("guard", lambda f: bool(f.guard)),
    ("startup-failed", lambda f: not f.started),
    ("invalid-event-evidence", lambda f: f.damaged),
    ("invalid-runtime-evidence", lambda f: bool(f.runtime_problem)),
    (
        "invalid-runtime-version",
        lambda f: bool(f.reported_version) and f.reported_version != f.requested_version,
    ),
    ("invalid-tool-surface", lambda f: bool(f.foreign_advertised)),
    ("invalid-tool-call", lambda f: bool(f.foreign_executed)),
    ("invalid-fault-not-delivered", lambda f: not f.delivered),
    ("no-subagent-request", lambda f: not f.subagent_asked),
    ("no-subagent-started", lambda f: not f.subagent_started),
    ("model-request-failed", lambda f: f.subagent_failed),
    ("no-terminal-event", lambda f: not f.subagent_ended),
    ("completed", lambda f: True),
)
"""Name and question, in order; `guard` is replaced by the guard's own name."""

OUTCOMES: tuple[str, ...] = (
    *("guard-memory-floor", "guard-output-cap", "guard-request-cap", "guard-process-cap"),
    "timeout",
    *(name for name, _ in TABLE if name != "guard"),
)


def is_environment(outcome: str) -> bool:
    """Whether this outcome says something about the host or the harness, not about the agent."""
    return outcome in ("guard-memory-floor", "startup-failed") or outcome.startswith("invalid-")


def outcome(facts: Facts) -> str:
    """The first row that holds."""
    name = next(name for name, holds in TABLE if holds(facts))
    return facts.guard if name == "guard" else name


def facts(
    history: History,
    *,
    requested_version: str,
    runtime: Runtime,
    allowed_tools: Collection[str],
    executed_tools: Mapping[str, int],
    delivered: bool,
) -> Facts:
    """Gather the facts; the driver answers for tools, runtime and version."""
    guards = history.of(Kind.GUARD)
    exits = history.of(Kind.PROCESS_EXITED)
    requests = history.of(Kind.REQUEST_RECEIVED)
    below = [call for call in history.calls if call.caller.startswith(("child", "grandchild"))]
    last_calls = {call.caller: call for call in below}
    runs = history.runs
    return Facts(
        guard=str(guards[0].get("guard")) if guards else "",
        started=bool(requests) or _spoke(history),
        exit_code=_code(exits),
        damaged=bool(history.losses),
        runtime_problem=runtime.problem,
        requested_version=requested_version,
        reported_version=runtime.version,
        foreign_advertised=_foreign(requests, allowed_tools),
        foreign_executed=tuple(sorted(set(executed_tools) - set(allowed_tools))),
        delivered=delivered,
        # A client run has a stand-in below it, and no provider that could be asked.
        subagent_asked=bool(below) or (not requests and bool(runs)),
        subagent_started=bool(runs) or bool(below),
        subagent_failed=any(
            call.failed and not call.last.open and not _recovered(history, call.agent)
            for call in last_calls.values()
        ),
        subagent_ended=bool(runs) and all(run.ends for run in runs),
        public=public_facts(history, below=bool(below)),
    )


_OF_OURS = (Kind.DAMAGE, Kind.OTHER, Kind.PART, Kind.PHASE)
"""Kinds that a program of ours inside of the run writes as well, before the agent does."""


def _spoke(history: History) -> bool:
    """Whether the agent itself wrote anything that is not damage."""
    ours = ("harness", "process", "provider")
    return any(event.source not in ours and event.kind not in _OF_OURS for event in history.events)


def _recovered(history: History, agent: str) -> bool:
    """Whether a later call of the same agent was answered whole (another dialect's fallback)."""
    calls = history.calls_of(agent) if agent else []
    return bool(calls) and calls[-1].last.complete


def _code(exits: list[Event]) -> int | None:
    if not exits:
        return None
    code, signal = exits[-1].get("code"), exits[-1].get("signal")
    if code is not None:
        return int(code)
    return None if signal is None else -int(signal)


def _foreign(requests: list[Event], allowed: Collection[str]) -> tuple[str, ...]:
    seen = {
        str(tool)
        for event in requests
        if event.get("caller") != "utility"
        for tool in event.get("tools") or ()
    }
    return tuple(sorted(seen - set(allowed)))


def public_facts(history: History, *, below: bool) -> dict[str, object]:
    """What the public script looks at: whole-run errors and one terminal a source."""
    ends = {"stdout": "none", "session": "none"}
    for source in ends:
        words = {str(e.get("status")) for e in history.of(Kind.AGENT_ENDED) if e.seen_in(source)}
        started = any(e.seen_in(source) for e in history.of(Kind.AGENT_STARTED))
        for word in ("failed", "completed"):
            if word in words:
                ends[source] = word
                break
        else:
            ends[source] = "started-only" if started else "none"
    return {
        "asked": below,
        "started": any(word != "none" for word in ends.values()),
        "retry_error": bool(history.of(Kind.RETRY_CLAIM)),
        **ends,
    }


def public_outcome(facts: Facts) -> str:
    """The literal class of the public script, with its known misjudgements."""
    name = outcome(facts)
    if name.startswith(("guard-", "timeout", "startup-failed", "invalid-")):
        return name
    public = facts.public
    if not public.get("asked"):
        return "no-subagent-request"
    if not public.get("started"):
        return "no-subagent-started"
    if public.get("retry_error"):
        return "model-request-failed"
    if "completed" in (public.get("stdout"), public.get("session")):
        return "completed"
    return "no-terminal-event"
