"""What is copied out of a run: the issue in Markdown and the command that repeats it.

What an agent said passes `text.markdown` or a code span: no mention, fence, link or
control character of it acts where it is pasted. Below 60 lines.
"""

from __future__ import annotations

import json
import shlex
from typing import TYPE_CHECKING, Any

from dashboard import words
from dashboard.text import code_block, code_span, markdown
from runs import catalogue
from runs.models import Run

if TYPE_CHECKING:
    from dashboard.facts import Facts, Said

AGENTS_SHOWN = 8
ATTEMPTS_SHOWN = 10
FINDINGS_SHOWN = 6


def command(run: Run) -> str:
    """The command line that repeats the run."""
    if run.kind == Run.Kind.IMPORT or not run.scenario:
        return ""
    parts = ["python3", "manage.py", "reproduce", f"{run.agent}@{run.version}", run.scenario]
    for key, value in sorted(_changed_options(run).items()):
        text = value if isinstance(value, str) else json.dumps(value)
        parts += ["--set", f"agents.{run.agent}.{key}={text}"]
    if run.expect:
        parts += ["--expect", run.expect]
    return " ".join(shlex.quote(part) for part in parts)


def _changed_options(run: Run) -> dict[str, Any]:
    driver = catalogue.drivers().get(run.agent)
    defaults = {option.key: option.default for option in driver.options} if driver else {}
    return {
        key: value
        for key, value in run.options.items()
        if key not in defaults or defaults[key] != value
    }


def issue(run: Run, facts: Facts, address: str) -> str:
    """The run as an issue's text in GitHub Markdown."""
    lines = [*_head(run), "", *_truth(facts), ""]
    if facts.retried:
        lines += [*_attempts(facts), ""]
    if facts.broken:
        lines += ["**Broken laws**", "", *_findings(facts), ""]
    if command(run):
        lines += ["Repeat it (no credentials, no hosted model):", "", code_block(command(run)), ""]
    lines.append(f"Run: {address}")
    return "\n".join(lines) + "\n"


def _head(run: Run) -> list[str]:
    word, _ = words.diagnosis(run.diagnosis)
    title = f"### {markdown(run.agent)} {markdown(run.version)} · {markdown(run.scenario)}"
    lines = [f"{title}: {word}" if word else title, ""]
    if run.snapshot.get("question"):
        lines += [markdown(run.snapshot["question"]), ""]
    lines.append(f"- outcome {code_span(run.outcome or run.status)}, exit code {run.exit_code}")
    version = code_span(run.reported_version or run.version)
    sha = f", sha256 {code_span(run.sha256)}" if run.sha256 else ""
    lines.append(f"- binary reports {version}{sha}")
    runtime = ", ".join(f"{key} {value}" for key, value in sorted(run.runtime.items()) if value)
    if runtime:
        lines.append(f"- {markdown(runtime)}")
    return lines


def _truth(facts: Facts) -> list[str]:
    lines = [
        "| agent | on the wire | session log | stdout | parent was told |",
        "|---|---|---|---|---|",
    ]
    for row in facts.truth[:AGENTS_SHOWN]:
        cells = [code_span(row.name), markdown(row.wire)]
        cells += [_said(cell) for cell in (row.session, row.stdout, row.told)]
        lines.append(f"| {' | '.join(cells)} |")
    left = len(facts.truth) - AGENTS_SHOWN
    return lines + ([f"| … {left} more | | | | |"] if left > 0 else [])


def _said(cell: Said) -> str:
    return markdown(cell.word, 120) + (" ✗" if cell.lie else "")


def _attempts(facts: Facts) -> list[str]:
    lines = ["| attempt | gap before | lasted | ended | fault |", "|---|---|---|---|---|"]
    for row in facts.retried[:ATTEMPTS_SHOWN]:
        gap, lasted = words.seconds(row.get("gap_before")), words.seconds(row["lasted"])
        fault = code_span(row.get("fault") or "")
        lines.append(f"| {row.get('n')} | {gap} | {lasted} | {markdown(row['ended'])} | {fault} |")
    left = len(facts.retried) - ATTEMPTS_SHOWN
    return lines + ([f"| … {left} more | | | | |"] if left > 0 else [])


def _findings(facts: Facts) -> list[str]:
    lines = []
    for row in facts.broken[:FINDINGS_SHOWN]:
        evidence = ", ".join(code_span(one.get("ref", "")) for one in row["evidence"][:4])
        lines.append(
            f"- **{markdown(row['law'])}** {markdown(row['sentence'])} "
            f"{code_span(row['agent'], 80)}: {markdown(row['reason'])} ({evidence})"
        )
    left = len(facts.broken) - FINDINGS_SHOWN
    return lines + ([f"- … {left} more"] if left > 0 else [])
