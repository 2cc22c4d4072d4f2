"""The words and tones of the pages, each table once: colour follows the diagnosis."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

OK, BAD, UNKNOWN, WAIT, RUN = "ok", "bad", "unknown", "wait", "run"

DIAGNOSES: dict[str, tuple[str, str]] = {
    "healthy": ("healthy", OK),
    "failed_and_reported": ("failed and reported", OK),
    "cut_stream_false_completion": ("false completion", BAD),
    "provider_error_false_completion": ("false completion", BAD),
    "early_exit_children_lost": ("early exit, children lost", BAD),
    "early_exit_root_cut": ("early exit, root cut", BAD),
    "notice_lost": ("never told", BAD),
    "misrouted_notice": ("told to the wrong one", BAD),
    "resume_lost_outcome": ("outcome lost on resume", BAD),
    "trace_parent_wrong": ("wrong parent in trace", BAD),
    "log_damaged": ("log damaged", UNKNOWN),
    "environment": ("environment", UNKNOWN),
    "unknown": ("unknown", UNKNOWN),
}
"""Diagnosis → word and tone. Those that are not here read as their own name and are bad."""

STATUSES: dict[str, str] = {
    "queued": WAIT,
    "running": RUN,
    "ended": WAIT,
    "errored": UNKNOWN,
    "cancelled": WAIT,
    "lost": UNKNOWN,
}
VERDICTS: dict[str, str] = {"broken": BAD, "holds": OK, "unknown": UNKNOWN}
CLOSED: dict[str, str] = {
    "ended": "complete",
    "cut": "cut",
    "reset": "reset",
    "refused": "refused",
    "client-gone": "agent went away",
    "open": "still open",
}


def diagnosis(name: str) -> tuple[str, str]:
    """The word and the tone of a diagnosis (`""` is none yet)."""
    if not name:
        return "", WAIT
    return DIAGNOSES.get(name, (name.replace("_", " "), BAD))


def status_tone(status: str) -> str:
    """The tone of a run's status; unknown names wait."""
    return STATUSES.get(status, WAIT)


def verdict_tone(verdict: str) -> str:
    """The tone of a verdict; what is not known is unknown, never green."""
    return VERDICTS.get(verdict, UNKNOWN)


def law_name(name: str) -> str:
    """`TRUE-TERMINAL` as it stands in a sentence: `True terminal`."""
    return name.replace("-", " ").capitalize()


def closed(word: str, complete: bool | None, status: int | None = None) -> str:
    """How an exchange ended, for a table cell; a whole answer that is an error names its status."""
    if complete:
        return "complete"
    if word == "ended" and status is not None and status >= 400:
        return f"error {status}"
    return {"ended": "ended early"}.get(word, CLOSED.get(word, word or "still open"))


def guard(data: Mapping[str, Any]) -> str:
    """Why a guard stopped the run, as a sentence; `data` is that of `guard.fired`."""
    limit, value, name = data.get("limit"), data.get("value"), str(data.get("guard"))
    if not isinstance(limit, int | float) or not isinstance(value, int | float):
        many = name == "guard-process-cap"
        return f"Stopped: {'it had become too many processes' if many else name}."
    if name == "timeout":
        return f"Stopped after {seconds(limit)}, the deadline."
    if name == "guard-request-cap":
        return f"Stopped at request {value:,.0f} to the provider; {limit:,.0f} are allowed."
    if name == "guard-output-cap":
        where = "on disk" if data.get("what") == "disk" else "of output"
        return f"Stopped at {size(int(value))} {where}; {size(int(limit))} are allowed."
    if name == "guard-memory-floor":
        return f"Stopped: {value:,.0f} MiB of memory were left; {limit:,.0f} MiB have to stay free."
    return f"Stopped by {name}."


def plural(count: int, word: str, many: str = "") -> str:
    """`1 attempt`, `6 attempts`, `83,412 events`."""
    return f"{count:,} {word if count == 1 else many or word + 's'}"


def seconds(value: float | None) -> str:
    """A duration as people read it: `6 ms`, `1.01 s`, `41 s`, `3 min 20 s`, `2 h 5 min`."""
    if value is None:
        return "–"
    sign, value = ("−" if value < 0 else ""), abs(value)
    if value < 0.0005:
        return "0 ms"
    if value < 1:
        return f"{sign}{value * 1000:.0f} ms"
    if value < 60:
        return f"{sign}{value:.2f} s" if value < 10 else f"{sign}{value:.1f} s"
    if value < 3600:
        return f"{sign}{int(value // 60)} min {int(value % 60)} s"
    return f"{sign}{int(value // 3600)} h {int(value % 3600 // 60)} min"


def size(count: int | None) -> str:
    """Bytes in binary units: `712 B`, `21.7 KiB`."""
    if count is None:
        return "–"
    amount = float(count)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if amount < 1024 or unit == "GiB":
            return f"{amount:,.0f} {unit}" if unit == "B" else f"{amount:,.1f} {unit}"
        amount /= 1024
    return ""
