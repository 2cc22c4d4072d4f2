"""What the run page shows, made from the run's document; foreign text is made visible here.

The document is the JSON of ``reproduce`` (runs/report.py). Everything that leaves this
module went through `visible_deep`, so that no template can forget it.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from runs import catalogue, report, store, words
from runs.core.events import ROOT
from runs.models import Event, Opinion, Run
from runs.text import visible_deep

NEVER = "never told"
SPOKEN = ("stdout", "session")
"""The sources of a terminal that have a column of their own."""
_IDS = re.compile(r"[\w-]{8,}")
"""What may be the id of an agent in a sentence of a law."""
LIVE_EVENTS = 20_000
"""A run that is open and longer than this gets its tables at its end; the rest is live."""
_NOT_COMPLETED = ("failed", "cancelled", "aborted", "killed", "never_ran")
"""True ends that make a "completed" a lie; `open` and `lost` prove nothing."""
_SILENT = ("", "none", None)


@dataclass(slots=True)
class Said:
    """A cell: what a place says of an agent, where, and whether it is a lie."""

    word: str = "–"
    ref: str = ""
    lie: bool = False
    note: str = ""

    @property
    def against(self) -> str:
        """What a lie is called beside its word; that nothing was told is none, and wrong."""
        return ("must be told" if self.word == NEVER else "not true") if self.lie else ""


@dataclass(slots=True)
class Truth:
    """A row of truth against report: one agent."""

    id: str
    name: str
    depth: int
    sub: str
    wire: str
    session: Said
    stdout: Said
    told: Said
    findings: list[dict[str, Any]] = field(default_factory=list)


@dataclass(slots=True)
class Facts:
    """All of one run."""

    document: dict[str, Any]
    truth: list[Truth]
    attempts: list[dict[str, Any]]
    broken: list[dict[str, Any]]
    holds: list[dict[str, Any]]
    unknown: list[dict[str, Any]]
    retry: dict[str, Any]
    retried: list[dict[str, Any]]
    """The attempts of the call that the retry figures are about."""

    @property
    def announced(self) -> bool:
        """Whether any of the retries was announced with its wait."""
        return any(row.get("claimed") is not None for row in self.retried)

    @property
    def asked_to_wait(self) -> bool:
        """Whether an answer to any of them asked for a wait (Retry-After)."""
        return any(row.get("retry_after") is not None for row in self.retried)

    @property
    def findings(self) -> list[dict[str, Any]]:
        """All, broken first."""
        return [*self.broken, *self.unknown, *self.holds]


def gather(run: Run) -> Facts:
    """The facts of a run, open or ended."""
    found = of_document(_document(run))
    opinions = {(one.law, one.agent): one for one in Opinion.objects.filter(run=run)}
    for row in found.findings if opinions else ():
        row["opinion"] = opinions.get((row["law"], row["agent"]))
    return found


def of_document(given: dict[str, Any]) -> Facts:
    """The facts of a run's document, also of a redacted one."""
    document = visible_deep(given)
    agents = document.get("agents") or []
    over = document.get("status") not in ("queued", "running")
    attempts = [_attempt(row, over) for row in document.get("attempts") or []]
    findings = [_finding(row, n) for n, row in enumerate(document.get("findings") or [])]
    by_verdict: dict[str, list[dict[str, Any]]] = {"broken": [], "holds": [], "unknown": []}
    for row in findings:
        by_verdict.setdefault(row["verdict"], by_verdict["unknown"]).append(row)
    truth = [_truth(row, by_verdict["broken"], document) for row in _tree(agents)]
    callers = names(truth)
    for row in (*attempts, *findings):
        row["who"] = callers.get(row.get("agent") or "", row.get("agent"))
    for row in findings:
        said = str(row.get("reason") or "")
        row["reason"] = _IDS.sub(lambda found: callers.get(found[0], found[0]), said)
    return Facts(
        document=document,
        truth=truth,
        attempts=attempts,
        retry=document.get("retry") or {},
        retried=tried_again(attempts),
        **by_verdict,
    )


def names(truth: list[Truth]) -> dict[str, str]:
    """What each agent is called by id; one below the top that shares its name keeps the id."""
    often = Counter(row.name for row in truth)
    return {row.id: row.name if often[row.name] == 1 or not row.depth else row.id for row in truth}


def _document(run: Run) -> dict[str, Any]:
    """The run's document; while it is open its rows come from what is stored so far."""
    if run.is_open and not run.summary.get("agents"):
        if Event.objects.filter(run=run, seq__gt=LIVE_EVENTS).exists():
            return report.document(run)
        run.summary = {**run.summary, **report.summary(run, store.history(run))}
    return report.document(run)


def _tree(agents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Parents before their children, each with its depth; an agent without a parent is at 0."""
    children: dict[Any, list[dict[str, Any]]] = {}
    known = {row["id"] for row in agents}
    for row in agents:
        parent = row.get("parent") if row.get("parent") in known else None
        children.setdefault(parent, []).append(row)
    ordered: list[dict[str, Any]] = []
    stack = [(row, 0) for row in reversed(children.get(None, []))]
    seen: set[str] = set()
    while stack:
        row, depth = stack.pop()
        if row["id"] in seen:
            continue
        seen.add(row["id"])
        ordered.append({**row, "depth": depth})
        stack += [(child, depth + 1) for child in reversed(children.get(row["id"], []))]
    return ordered + [{**row, "depth": 0} for row in agents if row["id"] not in seen]


_GROUND: dict[bool | None, str] = {True: "background", False: "in the foreground"}


def _truth(row: dict[str, Any], broken: list[dict[str, Any]], document: dict[str, Any]) -> Truth:
    imported = document.get("kind") == "import"
    kind = _GROUND.get(row.get("background"), "")
    sub = [kind, row.get("role") or "", f"{row['runs']} runs" if row.get("runs", 1) > 1 else ""]
    top = not row.get("parent")
    stdout, session = _terminal(row, "stdout"), _terminal(row, "session")
    session.note = _elsewhere(row)
    if top and stdout.word == "–" and document.get("exit_code") is not None:
        lie = any(one["law"] == "L16" for one in broken)
        stdout = Said(f"exit {document['exit_code']}", lie=lie)
    return Truth(
        id=row["id"],
        name=row.get("name") or (ROOT if top else row["id"]),
        depth=row["depth"],
        sub=" · ".join(part for part in sub if part),
        wire=wire_words(row.get("wire") or {}, bool(document.get("attempts")) or not imported),
        session=session,
        stdout=stdout,
        told=Said() if top else _told(row, broken),
        findings=[one for one in broken if one["agent"] == row["id"]],
    )


def wire_words(wire: dict[str, Any], watched: bool = True) -> str:
    """`6 attempts, 6 failed` or `3 calls, all complete`; `not seen` where nobody watched."""
    calls, attempts = wire.get("calls", 0), wire.get("attempts", 0)
    if not attempts:
        return "no call" if watched else "not seen"
    failed, still = wire.get("failed", 0), wire.get("open", 0)
    if not failed and not still:
        return f"{words.plural(calls, 'call')}, {'all ' if calls > 1 else ''}complete"
    parts = [words.plural(attempts, "attempt")]
    parts += [f"{failed} failed"] if failed else []
    parts += [f"{still} open"] if still else []
    return ", ".join(parts)


def _terminal(row: dict[str, Any], source: str) -> Said:
    word = (row.get("terminal") or {}).get(source)
    if word in _SILENT:
        return Said()
    ref = (row.get("terminal_refs") or {}).get(source, "")
    lie = word == "completed" and row.get("true_end") in _NOT_COMPLETED
    return Said(str(word), str(ref), lie)


def _elsewhere(row: dict[str, Any]) -> str:
    """What views without a column of their own say: `hooks: completed`."""
    others = (row.get("terminal") or {}).items()
    return ", ".join(f"{k}: {v}" for k, v in others if k not in SPOKEN and v not in _SILENT)


def _told(row: dict[str, Any], broken: list[dict[str, Any]]) -> Said:
    told = row.get("told")
    lie = any(one["agent"] == row["id"] and one["law"] == "L3" for one in broken)
    if not told:
        return Said(NEVER if lie else "–", lie=lie)
    raw = str(told.get("raw") or "")
    times = told.get("times") or 1
    note = f"{times} times" if isinstance(times, int) and times > 1 else ""
    word = str(told.get("status") or "")
    quoted = f"{word} “{raw}”" if raw and raw != word else word
    return Said(quoted, str(told.get("ref") or ""), lie, note)


def _attempt(row: dict[str, Any], over: bool) -> dict[str, Any]:
    end = row.get("end")
    lasted = end - row["start"] if end is not None and row.get("start") is not None else None
    ended = words.closed(row.get("closed") or "", row.get("complete"), row.get("http_status"))
    tone = "ok" if row.get("complete") else ("run" if end is None else "bad")
    if end is None and over:
        ended, tone = "no end seen", words.UNKNOWN
    return {**row, "lasted": lasted, "ended": ended, "tone": tone}


def tried_again(attempts: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The call with the most attempts (the first of them), if any was tried again."""
    calls: dict[tuple[str, Any], list[dict[str, Any]]] = {}
    for row in attempts:
        calls.setdefault((row.get("caller", ""), row.get("call")), []).append(row)
    most = max(calls.values(), key=len, default=[])
    return most if len(most) > 1 else []


def _finding(row: dict[str, Any], number: int) -> dict[str, Any]:
    law = catalogue.laws().get(row.get("law", ""))
    seqs = [one.get("seq") for one in row.get("evidence") or [] if one.get("seq")]
    return {
        **row,
        "number": number,
        "sentence": law.sentence if law else "",
        "name": words.law_name(law.name) if law else "",
        "seqs": " ".join(map(str, seqs)),
    }


def retry_words(retry: dict[str, Any]) -> str:
    """`claimed 5 waits, 5.00 s · measured 5 gaps, 5.06 s · 0.06 s more than claimed`, or ""."""
    reported, measured = retry.get("reported") or {}, retry.get("measured") or {}
    gaps = [gap for gap in measured.get("gaps") or [] if isinstance(gap, int | float)]
    claimed, slept = reported.get("retries"), reported.get("sleep")
    if not gaps and claimed is None:
        return ""
    claim = "claimed nothing"
    if claimed is not None:
        claim = f"claimed {words.plural(int(claimed), 'wait')}"
        claim += "" if slept is None else f", {float(slept):.2f} s"
    if measured.get("caller") is None:
        return f"{claim} · no model call was seen, so nothing is measured"
    found = f"{claim} · measured {words.plural(len(gaps), 'gap')}, {sum(gaps):.2f} s"
    if slept is None or not gaps:
        return found
    over = sum(gaps) - float(slept)
    return f"{found} · {abs(over):.2f} s {'less' if over < 0 else 'more'} than claimed"
