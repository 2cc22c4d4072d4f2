"""One HTML file with everything in it: works from disk, needs no script and no network."""

from __future__ import annotations

import base64
import hashlib
import json
from collections.abc import Iterator
from html import escape
from itertools import islice
from pathlib import Path
from typing import IO, Any

from runs import sayings, words
from runs.export import Export
from runs.facts import names, of_document
from runs.material import Material
from runs.text import one_line

EVENTS_SHOWN = 2000
LANES_SHOWN = 60
WIDTH, LEFT, ROW = 1000, 190, 18
STEPS = (
    *(m * 10.0**e for e in (-3, -2, -1, 0) for m in (1, 2, 5)),
    *(10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 28800, 86400),
)
"""Seconds from one line of the axis to the next."""
STYLE = Path(__file__).with_name("_page.css").read_text(encoding="utf-8")
STYLE_HASH = "sha256-" + base64.b64encode(hashlib.sha256(STYLE.encode()).digest()).decode()
"""What a Content-Security-Policy names to allow this style and no other."""
POLICY = f"default-src 'none'; style-src '{STYLE_HASH}'; base-uri 'none'; form-action 'none'"


class Html(Export):
    """For people; what a share link serves."""

    name = "html"
    title = "One HTML file: works from disk"
    suffix = "html"
    media = "text/html"

    def write(self, material: Material, out: IO[bytes]) -> None:
        """The page, section by section."""
        for part in _page(material):
            out.write(part.encode("utf-8", "replace"))


def said(value: object, limit: int = 300) -> str:
    """Foreign text on one line, harmless in HTML."""
    return escape(one_line(value, limit))


def _page(material: Material) -> Iterator[str]:
    facts = of_document(material.document)
    word, tone = words.diagnosis(material.document.get("diagnosis") or "")
    title = said(material.title) + (f" · {escape(word)}" if word else "")
    yield (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{escape(POLICY)}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        '<meta name="robots" content="noindex"><meta name="referrer" content="no-referrer">'
        f"<title>{title} — Lifeline</title><style>{STYLE}</style></head><body><main>\n"
    )
    yield f"<h1>{said(material.title)}</h1>\n<p>"
    if word:
        yield f'<span class="chip {tone}">{escape(word)}</span>'
    if material.document.get("outcome"):
        yield f'<span class="chip wait">{said(material.document["outcome"])}</span>'
    moment = said(material.run["started_at"] or material.run["created_at"])
    yield f"<small>{moment[:19].replace('T', ' ')} UTC"
    yield f" · {words.seconds(material.document.get('duration'))}</small></p>\n"
    if material.scenario.get("question"):
        yield f"<p>{said(material.scenario['question'])}</p>\n"
    if material.level != "full":
        yield (
            '<p class="soft">Redacted: texts are shown as length and hash, secrets as signs '
            "such as ⟨email-1⟩; the same sign is the same value.</p>\n"
        )
    yield from _truth(facts.truth)
    yield from _findings(facts, material)
    yield from _picture(material.timeline)
    yield from _attempts(facts.attempts)
    yield from _events(material, names(facts.truth))
    yield "</main></body></html>\n"


def _table(title: str, name: str, head: tuple[str, ...], rows: Iterator[str]) -> Iterator[str]:
    yield f'<h2 id="{name}">{title}</h2>\n<div class="scroll" tabindex="0" role="region" '
    yield f'aria-labelledby="{name}"><table><thead><tr>'
    yield "".join(f'<th scope="col">{escape(one)}</th>' for one in head)
    yield "</tr></thead><tbody>\n"
    yield from rows
    yield "</tbody></table></div>\n"


def _row(*cells: str) -> str:
    return f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>\n"


def _truth(rows: list[Any]) -> Iterator[str]:
    def cell(one: Any) -> str:
        lie = f' <span class="bad">✗ {one.against}</span>' if one.lie else ""
        ref = f"<br><small>{said(one.ref)}</small>" if one.ref else ""
        return said(one.word) + lie + ref

    made = (
        _row(
            f"{'└ ' * row.depth}<b>{said(row.name)}</b><br><small>{said(row.sub)}</small>",
            said(row.wire),
            cell(row.session),
            cell(row.stdout),
            cell(row.told),
        )
        for row in rows
    )
    head = ("agent", "on the wire", "session log", "stdout", "parent was told")
    yield from _table("Truth against report", "truth", head, made)


def _findings(facts: Any, material: Material) -> Iterator[str]:
    opinions = {(one["law"], one["agent"]): one for one in material.opinions}
    held = f"{len(facts.holds)} hold{'s' if len(facts.holds) == 1 else ''}"
    counts = f"{len(facts.broken)} broken · {held} · {len(facts.unknown)} unknown"
    yield f'<h2 id="findings">Findings <small>{counts}</small></h2>\n'
    if not facts.broken:
        yield "<p>No law was seen broken.</p>\n"
    yield from _listed(facts.broken, opinions)
    for title, rows in ((f"{len(facts.unknown)} unknown", facts.unknown), (held, facts.holds)):
        if rows:
            yield f"<details><summary>{title}</summary>"
            yield from _listed(rows, opinions)
            yield "</details>\n"


def _listed(rows: list[dict[str, Any]], opinions: dict[Any, Any]) -> Iterator[str]:
    tones = {"broken": "bad", "holds": "ok"}
    yield "<ul>\n"
    for row in rows:
        refs = ", ".join(f"<code>{said(one['ref'])}</code>" for one in row["evidence"][:12])
        yield f'<li><span class="chip {tones.get(row["verdict"], "unknown")}">{said(row["law"])} '
        yield f"{said(row['verdict'])}</span><b>{said(row['name'])}.</b> "
        yield f"{said(row['who'], 80)}: " if row["agent"] else ""
        yield f"{said(row['reason'], 600)} <small>{refs}</small>"
        opinion = opinions.get((row["law"], row["agent"]))
        if opinion:
            note = " ".join(filter(None, (opinion["note"], opinion["link"])))
            yield f"<br><i>{said(opinion['word'])}: {said(note, 600)}</i>"
        yield "</li>\n"
    yield "</ul>\n"


def _picture(timeline: dict[str, Any]) -> Iterator[str]:
    lanes = timeline["lanes"][:LANES_SHOWN]
    span = float(timeline.get("duration") or 0.0) or 1.0
    height = ROW * (len(lanes) + 2)
    left = len(timeline["lanes"]) - len(lanes)
    more = f" <small>{len(lanes)} of {len(timeline['lanes'])} lanes shown</small>" if left else ""
    yield f'<h2 id="timeline">Timeline{more}</h2>\n<div class="scroll" tabindex="0" role="region" '
    yield 'aria-labelledby="timeline">'
    yield f'<svg viewBox="0 0 {WIDTH} {height}" role="img" aria-label="Timeline; the tables say '
    yield 'the same in words">\n'

    def x(t: float) -> float:
        return round(LEFT + max(0.0, min(t, span)) / span * (WIDTH - LEFT - 12), 1)

    for t in ticks(span):
        at, word = x(t), words.seconds(t) if t >= 60 else f"{t:.4g} s"
        anchor = ' text-anchor="end"' if at > WIDTH - 60 else ""
        yield f'<path class="axis" d="M{at} {ROW}V{height}"/>'
        yield f'<text x="{at if anchor else at - 8}" y="12"{anchor}>{word}</text>\n'
    for place, lane in enumerate(lanes, 1):
        top = ROW * place + 6
        yield f'<text x="{4 + 10 * int(lane.get("depth") or 0)}" y="{top + 11}">'
        yield f"{said(lane['label'], 28)}</text>"
        for bar in lane["bars"]:
            end = span if bar["end"] is None else bar["end"]
            start, width = x(bar["start"]), max(1.5, x(end) - x(bar["start"]))
            yield f'<rect class="fill-{said(bar["tone"])}" x="{start}" y="{top + 2}" '
            yield f'width="{width:.1f}" height="11" rx="2"><title>{said(bar["label"])}</title>'
            yield "</rect>"
        for mark in lane["marks"]:
            yield f'<circle class="fill-{said(mark["tone"])}" cx="{x(mark["t"])}" cy="{top + 8}" '
            yield f'r="3.5"><title>{said(mark["label"] or mark["kind"])}</title></circle>'
        yield "\n"
    yield "</svg></div>\n"


def ticks(span: float) -> list[float]:
    """Round moments of the axis, seven at most."""
    step = next((one for one in STEPS if span / one <= 6), span / 6)
    return [step * n for n in range(int(span / step + 1e-9) + 1)]


def _attempts(rows: list[dict[str, Any]]) -> Iterator[str]:
    made = (
        _row(
            said(row["caller"]),
            f"{row['call']}.{row['n']}",
            words.seconds(row["start"]),
            words.seconds(row["lasted"]),
            words.seconds(row.get("gap_before")),
            f'<span class="{row["tone"]}">{said(row["ended"])}</span>',
            said(row.get("http_status") or "–"),
            said(row.get("fault") or "–"),
        )
        for row in rows[:EVENTS_SHOWN]
    )
    head = ("caller", "call.try", "start", "lasted", "gap before", "ended", "HTTP", "fault")
    yield from _table("Attempts", "attempts", head, made)


def _data(data: dict[str, Any], says: str) -> str:
    """What an event says, with all that it holds behind it."""
    held = {key: value for key, value in data.items() if value not in (None, "", [], {})}
    if not held:
        return says
    whole = said(json.dumps(held, ensure_ascii=False, default=str), 1000)
    return f"<details><summary>{says or '…'}</summary><code>{whole}</code></details>"


def _events(material: Material, called: dict[str, str]) -> Iterator[str]:
    def line(event: dict[str, Any]) -> str:
        return f":{event['line']}" if event["line"] else ""

    total = material.document.get("event_count") or 0
    shown = min(total, EVENTS_SHOWN)
    rows = (
        _row(
            f"{event['seq']}",
            "–" if event["t"] is None else f"{event['t']:.3f}",
            said(event["kind"], 60),
            said(called.get(event["agent"], event["agent"]), 60),
            _data(event["data"], said(sayings.sentence(event["kind"], event["data"]), 260)),
            f"<small>{said(event['file'], 80)}{line(event)}</small>",
        )
        for event in islice(material.events(), EVENTS_SHOWN)
    )
    head = ("no.", "s", "event", "agent", "what", "where")
    yield from _table(f"Events <small>{shown:,} of {total:,} shown</small>", "events", head, rows)


EXPORT = Html()
