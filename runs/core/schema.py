"""Plain-data shapes that cross package borders, as typed dictionaries.

These are the JSON of ``reproduce --json``, of the API and of the run page;
``runs/report.py`` makes them from a history and its findings.
"""

from __future__ import annotations

from typing import Any, TypedDict


class AgentRow(TypedDict):
    """One agent of a run: what happened on the wire against what was said."""

    id: str
    caller: str | None
    parent: str | None
    role: str
    name: str
    background: bool | None
    terminal: dict[str, str]
    """By source (`stdout`, `session`): completed failed cancelled interrupted started-only none."""
    terminal_refs: dict[str, str]
    told: dict[str, Any] | None
    """What its parent was told: {status, raw, t, ref, times} or None for never."""
    wire: dict[str, int]
    """{calls, attempts, failed, complete, open}"""
    true_end: str
    error_class: str
    started: float | None
    ended: float | None
    runs: int


class AttemptRow(TypedDict):
    """One try of one model call, by the provider's journal. Times in seconds since start."""

    caller: str
    agent: str
    call: int
    n: int
    start: float
    first_byte: float | None
    end: float | None
    http_status: int | None
    fault: str | None
    closed: str
    complete: bool
    gap_before: float | None
    claimed: float | None
    """The wait that its agent announced for that gap; None where it announced none."""
    retry_after: float | None
    bytes: int
    events: int
    model: str
    seq: int
    end_seq: int | None
    request: str


class RetryRow(TypedDict):
    """Claimed against measured, of the run's first failing sub-agent (else its first agent)."""

    reported: dict[str, float | int | None]
    reasons: list[str]
    """Why the agent says that it tried again, in its own words, each once."""
    measured: dict[str, Any]


class FindingRow(TypedDict):
    """A finding as JSON."""

    law: str
    verdict: str
    agent: str
    evidence: list[dict[str, Any]]
    reason: str
    because: str
    label: str
    figures: dict[str, Any]
