"""An issue in GitHub Markdown: what ran, truth against report, retries, findings, how to repeat.

What an agent said passes `text.markdown` or a code span: no mention, fence, link or
control character of it acts where it is pasted.
"""

from __future__ import annotations

from typing import IO, Any

from runs import words
from runs.errors import HarnessError
from runs.export import Export
from runs.facts import Facts, Said, of_document, retry_words
from runs.material import Material
from runs.standalone import script_of
from runs.text import code_block, code_span, markdown, one_line

LONGEST = 65_000
"""Characters of an issue; GitHub takes 65,536."""
AGENTS_SHOWN, ATTEMPTS_SHOWN, FINDINGS_SHOWN, EVIDENCE_SHOWN = 8, 10, 6, 3


class Markdown(Export):
    """For bug trackers."""

    name = "markdown"
    title = "Issue Markdown"
    suffix = "md"
    media = "text/markdown"

    def write(self, material: Material, out: IO[bytes]) -> None:
        """One short document."""
        out.write(issue(material).encode("utf-8", "replace"))


def issue(material: Material) -> str:
    """The whole text."""
    facts = of_document(material.document)
    lines = [*_head(material), "", *_truth(facts), ""]
    if facts.retried:
        lines += [f"**Retries**: {markdown(retry_words(facts.retry))}", "", *_attempts(facts), ""]
    if facts.broken:
        lines += ["**Broken laws**", "", *_findings(material, facts), ""]
    last = [f"Run: {material.address or code_span(material.run['permalink'])}"]
    if material.level != "full":
        last.append("Redacted: texts are length and hash, secrets are signs.")
    room = LONGEST - sum(len(line) + 1 for line in (*lines, *last))
    return "\n".join([*lines, *_repeat(material, room), *last]) + "\n"


def _head(material: Material) -> list[str]:
    run, document = material.run, material.document
    word, _ = words.diagnosis(document.get("diagnosis") or "")
    name = f"{markdown(run['agent'])} {markdown(run['version'])}".strip()
    title = f"### {name} · {markdown(run['scenario'] or 'attached logs')}"
    lines = [f"{title}: {word}" if word else title, ""]
    if material.scenario.get("question"):
        lines += [markdown(material.scenario["question"]), ""]
    if run["executed"]:
        ended = code_span(document.get("outcome") or document["status"])
        code = document.get("exit_code")
        lines.append(f"- outcome {ended}, exit code {'unknown' if code is None else code}")
    elif document.get("exit_code") is not None:
        lines.append(f"- exit code {document['exit_code']}")
    if run["executed"] and (run["reported_version"] or run["sha256"]):
        sha = f", sha256 {code_span(run['sha256'])}" if run["sha256"] else ""
        lines.append(f"- binary reports {code_span(run['reported_version'] or '–')}{sha}")
    runtime = ", ".join(f"{key} {value}" for key, value in sorted(run["runtime"].items()) if value)
    if runtime:
        lines.append(f"- {markdown(runtime)}")
    formats = material.intake.get("formats") or []
    if formats:
        names = ", ".join(code_span(row.get("path", ""), 80) for row in formats[:6])
        lines.append(f"- read from {names}{' …' if len(formats) > 6 else ''}")
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


def _findings(material: Material, facts: Facts) -> list[str]:
    shown = facts.broken[:FINDINGS_SHOWN]
    chosen = [one for row in shown for one in row["evidence"][:EVIDENCE_SHOWN]]
    events = material.evidence([one["seq"] for one in chosen])
    opinions = {(one["law"], one["agent"]): one for one in material.opinions}
    lines = []
    for row in shown:
        because = f" (because of {row['because']})" if row["because"] else ""
        lines.append(
            f"- **{markdown(row['law'])}** {markdown(row['sentence'])} "
            f"{code_span(row['agent'], 80)}: {markdown(row['reason'])}{because}"
        )
        for one in row["evidence"][:EVIDENCE_SHOWN]:
            event = events.get(one["seq"])
            said = f" {code_span(_event(event), 160)}" if event else ""
            lines.append(f"  - {code_span(one['ref'], 120)}{said}")
        opinion = opinions.get((row["law"], row["agent"]))
        if opinion:
            link = f" {code_span(opinion['link'])}" if opinion["link"] else ""
            words = f"{markdown(opinion['word'])} {markdown(opinion['note'])}".rstrip()
            lines.append(f"  - said by a person: {words}{link}")
    left = len(facts.broken) - FINDINGS_SHOWN
    return lines + ([f"- … {left} more"] if left > 0 else [])


def _event(event: dict[str, Any]) -> str:
    """An event in one line: its kind and what its data says."""
    data = [pair for pair in event["data"].items() if isinstance(pair[1], str | int | float)]
    said = [(key, round(x, 3) if isinstance(x, float) else x) for key, x in data if x != ""]
    parts = [f"{key}={value}" for key, value in said]
    return one_line(f"{event['native'] or event['kind']} {' '.join(parts)}", 160)


def _repeat(material: Material, room: int) -> list[str]:
    if material.repeat is None or not material.command:
        return []
    how = "Repeat it (no credentials, no hosted model):"
    if material.repeat.proposed:
        how = "These are attached logs. The nearest scenario (no credentials, no hosted model):"
    said = [how, "", code_block(material.command), ""]
    return [*said, *_script(material, room - sum(len(line) + 1 for line in said) - 1), ""]


def _script(material: Material, room: int) -> list[str]:
    """The script that needs only Python, in a fold; else where it is, or why there is none."""
    try:
        text = script_of(material.repeat)
    except HarnessError as trouble:
        return [f"No script of its own: {markdown(trouble.what)}"]
    found = ["<details><summary>The same without Lifeline: a script that needs only Python and "
             "the binary</summary>", "", code_block(text, "python"), "", "</details>"]  # fmt: skip
    if sum(len(line) + 1 for line in found) <= room:
        return found
    command = f"python3 manage.py export {material.run['permalink']} script -o repeat.py"
    return [f"The script that needs only Python and the binary has {len(text):,} characters, too "
            "many for an issue. Attach it; it is made by:", "", code_block(command)]  # fmt: skip


EXPORT = Markdown()
