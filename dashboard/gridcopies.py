"""The matrix to take away: a Markdown table, CSV, JSON. Foreign text is made harmless."""

from __future__ import annotations

import csv
import io
from collections.abc import Mapping
from typing import Any

from dashboard import gridpaint
from dashboard.grids import Grid, Place
from runs import words
from runs.core.matrix import Cell, spoken
from runs.text import markdown, one_line

HEAD = (
    *("agent", "version", "scenario", "runs", "valid", "imported", "outcome", "diagnosis"),
    *("broken", "attempts", "gaps", "reported_sleep", "stdout", "session", "told", "exit"),
)


def in_order(view: Grid) -> list[tuple[Place, Cell]]:
    """The view's cells, row by row."""
    places = [
        (block.agent, version, scenario)
        for block in view.blocks
        for version in block.versions
        for scenario in view.scenarios
    ]
    return [(place, view.cells[place]) for place in places if place in view.cells]


def as_csv(view: Grid) -> str:
    """One line a cell; several values of a thing as ``value×count``."""
    file = io.StringIO()
    writer = csv.writer(file)
    writer.writerow(HEAD)
    for place, cell in in_order(view):
        first = [*place, cell["n"], cell["valid"], cell["imported"]]
        counted = [cell["outcomes"], cell["diagnoses"], cell["broken"]]
        spread = [cell["attempts"], cell["gaps"], cell.get("slept")]
        stdout, session = (_terminal(cell, side) for side in (0, 1))
        last = [stdout, session, _times(cell["told"]), _times(cell["exits"])]
        row = [*first, *map(_times, counted), *map(_spread, spread), *last]
        writer.writerow([_harmless(value) for value in row])
    return file.getvalue()


def _harmless(value: Any) -> Any:
    """No spreadsheet takes it for a formula."""
    text = one_line(value, 500)
    return f"'{text}" if text[:1] in ("=", "+", "-", "@") else text


def _times(counts: Mapping[str, int]) -> str:
    if len(counts) == 1:
        return next(iter(counts))
    return " ".join(f"{value}×{n}" for value, n in counts.items())


def _spread(values: list[float] | None) -> str:
    if not values:
        return ""
    low, _, high = values
    return f"{low:g}" if low == high else f"{low:g}–{high:g}"


def _terminal(cell: Cell, side: int) -> str:
    return " ".join(dict.fromkeys(pair.split(" | ")[side] for pair in cell["terminals"]))


def as_markdown(view: Grid) -> str:
    """The table of the public report: a row a binary and scenario, then what changed."""
    lines = [
        "| binary | scenario | n | diagnosis | outcome | attempts | gaps s | says it waited s "
        "| terminal stdout \\| session | parent told | exit | broken |",
        "|---|---|---|---|---|---|---|---|---|---|---|---|",
    ]
    lines += [_row(place, cell) for place, cell in in_order(view)]
    if view.changes:
        lines += ["", "Changes:", ""]
        lines += [
            f"- {markdown(one['agent'])} {markdown(one['before'])} → {markdown(one['after'])}, "
            f"{markdown(one['scenario'])}: {markdown(one['words'], 600)}"
            for one in view.changes
        ]
    return "\n".join(lines) + "\n"


def _row(place: Place, cell: Cell) -> str:
    agent, version, scenario = place
    parts = [
        f"{agent} {version}",
        scenario or "import",
        f"{cell['valid']}" + (f" + {gridpaint.aside(cell)}" if gridpaint.aside(cell) else ""),
        _named(cell) if cell["valid"] else "–",
        _times(cell["outcomes"]) or "–",
        _spread(cell["attempts"]) or "–",
        _spread(cell["gaps"]) or "–",
        _spread(cell.get("slept")) or "–",
        _times(cell["terminals"]) or "–",
        _told(cell),
        _times(cell["exits"]) or "–",
        " ".join(f"{law}×{n}" for law, n in cell["broken"].items()) or "–",
    ]
    return f"| {' | '.join(markdown(part) for part in parts)} |"


def _named(cell: Cell) -> str:
    return _times({words.diagnosis(name)[0]: n for name, n in spoken(cell).items()})


def _told(cell: Cell) -> str:
    told = {"never" if word == "none" else word: n for word, n in cell["told"].items()}
    return _times(told) or "–"


def document(view: Grid) -> dict[str, Any]:
    """The JSON of the matrix: ``{agents, scenarios, cells[], changes[], missing[]}``."""
    return {
        "agents": {block.agent: block.versions for block in view.blocks},
        "scenarios": view.scenarios,
        "cells": [
            {"agent": agent, "version": version, "scenario": scenario, **cell}
            for (agent, version, scenario), cell in in_order(view)
        ],
        "changes": view.changes,
        "missing": [
            {"agent": agent, "version": version, "scenario": scenario}
            for agent, version, scenario in view.missing
        ],
        "problems": view.problems,
    }
