"""The report on a case: what `judge` says, as plain data and as a table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from runs.core.agents import Agent, Run
from runs.core.events import Event
from runs.core.history import History
from runs.core.judge import Judgement, judge
from runs.core.law import Finding, Thresholds, Verdict
from runs.core.true_end import true_end
from runs.transcript import Case


def report(case: Case, thresholds: Thresholds | None = None) -> dict[str, Any]:
    """The JSON of `judge`; `findings[].evidence` are references such as ``events.jsonl:12``."""
    judgement = judge(case.history, thresholds)
    return {
        "formats": case.formats,
        "agents": [
            _agent_row(case.history, agent, thresholds) for agent in case.history.agents.values()
        ],
        "findings": [_finding_row(finding) for finding in judgement.findings],
        "diagnosis": judgement.diagnosis,
        "damage": case.damage,
        "missing": case.missing,
        "left_out": [{"path": path, "why": why} for path, why in case.left_out],
        "facts": case.facts,
        "complete": case.history.complete,
        "events": len(case.events),
        "broken": is_broken(judgement),
    }


def is_broken(judgement: Judgement) -> bool:
    """Whether any law is broken."""
    return any(finding.verdict is Verdict.BROKEN for finding in judgement.findings)


def _agent_row(history: History, agent: Agent, thresholds: Thresholds | None) -> dict[str, Any]:
    return {
        "id": agent.id,
        "parent": agent.parent,
        "name": agent.name,
        "terminals": [word for run in agent.runs for word in _terminals(run)],
        "true_end": true_end(history, agent, thresholds),
        "told": [str(note.get("status")) for run in agent.runs for note in run.notices],
    }


def _terminals(run: Run) -> list[str]:
    """The terminals of a run as one kind of record says them; a trace's in its own word.

    Several views, and several records of one view, may say the same end; the
    records of one kind in one file are counted, a hook's only where there is no other.
    """
    groups: dict[tuple[str, str], list[Event]] = {}
    for end in run.ends:
        groups.setdefault((end.file, end.native), []).append(end)
    if not groups:
        return []
    chosen = max(groups.values(), key=lambda ends: (ends[0].source != "hooks", len(ends)))
    return [
        str(end.get("raw" if end.source == "trace" else "status") or end.get("status"))
        for end in chosen
    ]


def _finding_row(finding: Finding) -> dict[str, Any]:
    return {
        "law": finding.law,
        "verdict": finding.verdict.value,
        "agent": finding.agent,
        "evidence": list(dict.fromkeys(one.ref for one in finding.evidence)),
        "reason": finding.reason,
        "because": finding.because,
        "label": finding.label,
        "figures": dict(finding.figures),
    }


def table(found: Mapping[str, Any]) -> str:
    """The report for people: files, agents, what is broken, what is not known, the diagnosis."""
    lines = [f"Diagnosis: {found['diagnosis']}", ""]
    lines += _grid(
        ("file", "format", "lines", "events", "damage"),
        [
            (row["path"], row["format"] or "not recognised", row["lines"], row["events"],
             row["damage"])
            for row in found["formats"]
        ],
    )  # fmt: skip
    lines += _grid(
        ("agent", "parent", "terminals", "told", "really"),
        [
            (row["id"], row["parent"] or "-", " ".join(row["terminals"]) or "none",
             " ".join(row["told"]) or "-", row["true_end"])
            for row in found["agents"]
        ],
    )  # fmt: skip
    broken = [row for row in found["findings"] if row["verdict"] == "broken"]
    lines.append("Broken:" if broken else "Broken: nothing")
    for row in broken:
        because = f" (because of {row['because']})" if row["because"] else ""
        lines.append(f"  {row['law']}  {row['agent']}  {row['reason']}{because}")
        lines.append(f"      {'  '.join(row['evidence'][:6])}")
    wrong = {row["law"] for row in broken}
    held = {row["law"] for row in found["findings"] if row["verdict"] == "holds"} - wrong
    holds = sorted(held, key=_of)
    asked = wrong | held
    unknown = sorted({row["law"] for row in found["findings"]} - asked, key=_of)
    lines.append(f"Holds: {' '.join(holds) or 'nothing that could be judged'}")
    lines.append(f"Not known: {' '.join(unknown) or '-'}")
    for row in found["damage"][:10]:
        state = "repaired" if row["repaired"] else "lost"
        lines.append(f"Damage: {row['file']}:{row['line']} {row['what']} ({state}) {row['detail']}")
    if len(found["damage"]) > 10:
        lines.append(f"Damage: 10 of {len(found['damage'])} shown")
    lines += [f"Missing: {words}" for words in found["missing"]]
    lines += [f"Left out: {row['path']} ({row['why']})" for row in found["left_out"]]
    return "\n".join(_printable(line) for line in lines)


def _of(law: str) -> int:
    number = law.removeprefix("L")
    return int(number) if number.isdigit() else 0


def _grid(head: tuple[str, ...], rows: Iterable[tuple[Any, ...]]) -> list[str]:
    cells = [head, *[tuple(str(cell) for cell in row) for row in rows]]
    widths = [min(60, max(len(row[column]) for row in cells)) for column in range(len(head))]
    lines = [
        "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    return [*lines, ""]


def _printable(line: str) -> str:
    """Without control characters: what a log holds must not drive the terminal."""
    return "".join(letter if letter.isprintable() else "�" for letter in line)
