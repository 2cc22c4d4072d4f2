"""The cells of the matrix as HTML and in words.

Six thousand cells are painted in one answer, so they are made by plain formatting and
not by a template; every foreign text passes `text.one_line` and `escape`.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any
from urllib.parse import quote, urlencode

from django.utils.html import escape
from django.utils.safestring import SafeString, mark_safe

from runs import words
from runs.core.matrix import Cell, most, spoken
from runs.text import one_line

FULL_CELLS = 400
"""Up to so many cells of a view say everything; in larger ones they say shape, word and count."""
FULL_COLUMNS = 8


def tone(cell: Cell) -> str:
    """The tone of its most frequent diagnosis; waiting where no run speaks."""
    return words.diagnosis(most(spoken(cell)))[1] if cell["valid"] else words.WAIT


def word(cell: Cell) -> str:
    """Its most frequent diagnosis in words."""
    if not cell["valid"]:
        return "no verdict"
    return words.diagnosis(most(spoken(cell)))[0] or most(cell["outcomes"]) or "unknown"


def count(cell: Cell) -> str:
    """`3/3`: runs with that diagnosis of runs that speak; `0/2` where none of two does."""
    return f"{next(iter(spoken(cell).values()), 0)}/{cell['valid'] or cell['n']}"


def attempts(cell: Cell) -> str:
    """`6 attempts`, `4–6 attempts`."""
    if not cell["attempts"]:
        return ""
    low, _, high = cell["attempts"]
    spread = f"{low:g}" if low == high else f"{low:g}–{high:g}"
    return f"{spread} attempt{'' if spread == '1' else 's'}"


def gaps(cell: Cell) -> str:
    """`gaps 1.01–1.06 s`."""
    if not cell["gaps"]:
        return ""
    low, _, high = cell["gaps"]
    return f"gaps {low:.2f} s" if f"{low:.2f}" == f"{high:.2f}" else f"gaps {low:.2f}–{high:.2f} s"


def slept(cell: Cell) -> str:
    """`says it waited 5.00 s`."""
    told = cell.get("slept")
    return f"says it waited {told[1]:.2f} s" if told else ""


def said(cell: Cell) -> str:
    """All of a cell in one sentence, for screen readers and titles."""
    parts = [f"{word(cell)} {count(cell)}", most(cell["outcomes"]), attempts(cell), gaps(cell)]
    parts += ["mixed: " + mixture(cell)] if len(spoken(cell)) > 1 else []
    parts += [aside(cell)]
    return ", ".join(part for part in parts if part)


def mixture(cell: Cell) -> str:
    """`false completion 2, healthy 1`."""
    return ", ".join(f"{words.diagnosis(k)[0]} {n}" for k, n in spoken(cell).items())


def aside(cell: Cell) -> str:
    """What is kept apart: runs without a verdict, and imports."""
    apart = cell["n"] - cell["valid"]
    parts = [f"{apart} environment" if apart else ""]
    if cell["imported"]:
        rest = "all" if cell["imported"] == cell["n"] else str(cell["imported"])
        parts.append(f"{rest} imported")
    return ", ".join(part for part in parts if part)


def query(agent: str, version: str, scenario: str) -> str:
    """The query that names a cell."""
    return urlencode({"agent": agent, "version": version, "scenario": scenario})


def cell_html(place: tuple[str, str, str], cell: Cell | None, full: bool, pick: bool) -> SafeString:
    """A table cell; `full` with outcome and spreads, `pick` with a box to choose it."""
    if cell is None:
        return SafeString('<td class="cell none"><span aria-label="not run">–</span></td>')
    classes = f"cell {tone(cell)}"
    classes += " hatched" if cell["imported"] and cell["imported"] * 2 >= cell["n"] else ""
    classes += "" if cell["valid"] else " apart"
    classes += _second(cell)
    agent, version, scenario = place
    query = (
        f"agent={_quoted(agent)}&amp;version={_quoted(version)}&amp;scenario={_quoted(scenario)}"
    )
    where, name = f"/matrix/cell/?{query}", _shown(word(cell))
    head = f'<a href="{where}"><b>{name}</b> <i>{count(cell)}</i></a>'
    split = _split(cell) if len(spoken(cell)) > 1 else ""
    if not full:
        return mark_safe(f'<td class="{classes}">{head}{split}</td>')
    lines = [most(cell["outcomes"]), " · ".join(filter(None, (attempts(cell), gaps(cell))))]
    if len(spoken(cell)) > 1:
        lines.append(mixture(cell))
    rest = "".join(f"<span>{_shown(line)}</span>" for line in lines if line)
    if cell["broken"]:
        rest += f'<span class="laws">{_shown(" ".join(cell["broken"]))}</span>'
    rest += f"<span>{_shown(aside(cell))}</span>" if aside(cell) else ""
    box = _box(place) if pick else ""
    return mark_safe(f'<td class="{classes}">{head}{split}{rest}{box}</td>')


def _second(cell: Cell) -> str:
    """The tone of the next diagnosis, where it is another one: the cell shows both."""
    tones = [words.diagnosis(name)[1] for name in spoken(cell)]
    others = [name for name in tones if name != tones[0]]
    return f" and-{others[0]}" if others else ""


@lru_cache(maxsize=4096)
def _quoted(name: str) -> str:
    return escape(quote(name, safe=""))


@lru_cache(maxsize=4096)
def _shown(text: str) -> str:
    return escape(one_line(text, 160))


def _box(place: tuple[str, str, str]) -> str:
    value = escape("|".join(place))
    label = escape("Choose " + " ".join(place))
    return f'<input type="checkbox" name="cells" value="{value}" aria-label="{label}">'


def _split(cell: Cell) -> str:
    """A bar in the shares of the diagnoses; attributes only, no style."""
    parts, left = [], 0.0
    total = sum(spoken(cell).values()) or 1
    for name, n in spoken(cell).items():
        width = 100 * n / total
        colour = words.diagnosis(name)[1]
        parts.append(f'<rect class="{colour}" x="{left:.1f}" width="{width:.1f}" height="4"/>')
        left += width
    return (
        '<svg class="mix" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true">'
        f"{''.join(parts)}</svg>"
    )


def badge(text: str, cell: Cell | None) -> str:
    """A small SVG for an issue: what was run, and what came of it."""
    left = one_line(text, 70)
    right = f"{word(cell)} {count(cell)}" if cell else "not run"
    colours = {"ok": "#1f5ab4", "bad": "#a43f0b", "unknown": "#6b3ab5"}
    colour = colours.get(tone(cell), "#5a6067") if cell else "#5a6067"
    a, b = 6.2 * len(left) + 18, 6.2 * len(right) + 18
    font = 'font-family="DejaVu Sans,Verdana,sans-serif" font-size="11" fill="#fff"'
    first, second, whole = escape(left), escape(right), f"{a + b:.0f}"
    right_half = f"M{a:.0f} 0h{b - 4:.0f}a4 4 0 0 1 4 4v12a4 4 0 0 1-4 4h-{b - 4:.0f}z"
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{whole}" height="20" role="img" '
        f'aria-label="{first}: {second}"><title>{first}: {second}</title>'
        f'<rect width="{whole}" height="20" rx="4" fill="#3c434a"/>'
        f'<path d="{right_half}" fill="{colour}"/>'
        f'<text x="9" y="14" {font} textLength="{a - 18:.0f}">{first}</text>'
        f'<text x="{a + 9:.0f}" y="14" {font} textLength="{b - 18:.0f}">{second}</text></svg>'
    )


def is_full(columns: int, cells: int) -> bool:
    """Whether a view of this size says everything in its cells."""
    return columns <= FULL_COLUMNS and cells <= FULL_CELLS


def counters(cell: Cell) -> list[tuple[str, list[tuple[str, int]]]]:
    """What a cell's page lists: each counted thing by name."""
    named: list[tuple[str, Any]] = [
        ("diagnosis", {words.diagnosis(k)[0]: n for k, n in spoken(cell).items()}),
        ("outcome", cell["outcomes"]),
        ("broken laws", cell["broken"]),
        ("told the parent", cell["told"]),
        ("terminal, stdout | session", cell["terminals"]),
        ("exit code", cell["exits"]),
    ]
    return [(name, list(counted.items())) for name, counted in named if counted]
