"""Sweeps and bisections as their pages show them: the plan, how far it is, what to paste."""

from __future__ import annotations

import shlex
from collections.abc import Iterable
from datetime import datetime, timedelta
from typing import Any, cast

from django.utils import timezone

from dashboard import grids
from runs import bisections, grid, sweeps, words
from runs.core import matrix
from runs.models import Run, Sweep
from runs.text import code_block, markdown
from runs.versions import key, ordered

PRESETS = (
    {
        "name": "The table of the public report",
        "agents": "copilot@1.0.60,1.0.73,1.0.81,1.0.85,1.0.92,1.0.102",
        "scenarios": "success,sse-cut,chunk-cut",
        "repeat": 3,
        "note": "54 runs of six real versions; those that are missing here are installed",
    },
    {
        "name": "Every version of the reference agent",
        "agents": "reference@0.1.0..",
        "scenarios": "success,sse-cut",
        "repeat": 1,
        "note": "needs no download",
    },
)
"""One press each on /sweeps/."""
TONES = {"going": "run", "paused": "wait", "ended": "wait", "cancelled": "wait"}


def title(sweep: Sweep) -> str:
    """`copilot, 6 versions × 3 scenarios × 3`, or what a bisection looks for."""
    if sweep.search:
        search = sweep.search
        return f"{search['agent']} {search['good']} … {search['bad']}: {looked_for(search)}"
    pairs = [tuple(pair) for pair in sweep.plan.get("binaries", [])]
    agents = dict.fromkeys(agent for agent, _ in pairs)
    scenarios, repeat = sweep.plan.get("scenarios", []), sweep.plan.get("repeat", 1)
    what = scenarios[0] if len(scenarios) == 1 else words.plural(len(scenarios), "scenario")
    versions = pairs[0][1] if len(pairs) == 1 else words.plural(len(pairs), "version")
    return f"{', '.join(agents)}, {versions} × {what}" + (f" × {repeat}" if repeat > 1 else "")


def looked_for(search: dict[str, Any]) -> str:
    """What a bisection looks for, in words: `L2 broken`, an outcome, a diagnosis, an expression."""
    kind, _, rest = str(search["look_for"]).partition(":")
    if kind == "law":
        return f"{rest} broken"
    if kind == "diagnosis":
        return words.diagnosis(rest)[0] or rest
    return rest if kind == "outcome" else str(search["look_for"])


def progress(sweep: Sweep) -> dict[str, Any]:
    """`sweeps.progress` with its words: share, what is left, when it will have ended."""
    found = sweeps.progress(sweep)
    total, ended = found["total"], found["ended"]
    left = found["left_seconds"] if sweep.state == Sweep.State.GOING else None
    going = found["running"] + found["queued"]
    return {
        **found,
        "share": round(100 * ended / total) if total else 0,
        "left": f"{grids.about(left)} left" if left and going else "",
        "until": until(left) if left and going else None,
    }


def until(seconds: float) -> datetime:
    """The moment that is so far away, on a whole minute where it is far."""
    when = timezone.now() + timedelta(seconds=seconds)
    return when.replace(microsecond=0)


def view_of(sweep: Sweep) -> grids.Grid:
    """The matrix of a sweep's own runs, with the planned cells that have none yet."""
    cells: dict[grids.Place, matrix.Cell] = {}
    for row in sweeps.cells(sweep):
        # A row is a cell that also says its place.
        cells[row["agent"], row["version"], row["scenario"]] = cast(matrix.Cell, row)
    planned: dict[str, set[str]] = {}
    for agent, version in sweep.plan.get("binaries", []):
        planned.setdefault(agent, set()).add(version)
    for agent, version, _ in cells:
        planned.setdefault(agent, set()).add(version)
    blocks = [grids.Block(agent, ordered(found), {}) for agent, found in sorted(planned.items())]
    asked = grids.Asked(repeat=int(sweep.plan.get("repeat", 1)))
    view = grids.Grid(
        asked, blocks, list(sweep.plan.get("scenarios", [])), cells, matrix.changes(cells, key)
    )
    if sweep.state not in (Sweep.State.GOING, Sweep.State.PAUSED):
        view.missing = _missing(sweep, view)
    return view


def _missing(sweep: Sweep, view: grids.Grid) -> list[grids.Place]:
    """Planned cells that ended with fewer runs than were planned, wherever those are."""
    pairs = [tuple(pair) for pair in sweep.plan.get("binaries", [])]
    stored = grid.stored({agent for agent, _ in pairs}, scenarios=view.scenarios)
    places = [(agent, version, name) for agent, version in pairs for name in view.scenarios]
    have = {place: cell["n"] for place, cell in stored.items()}
    return [place for place in places if have.get(place, 0) < view.asked.repeat]


def command(sweep: Sweep) -> str:
    """The command line that makes the same."""
    start = ["python3", "manage.py"]
    scenarios = ",".join(sweep.plan.get("scenarios", []))
    if sweep.search:
        search = sweep.search
        kind, colon, rest = str(search["look_for"]).partition(":")
        named = kind in ("law", "outcome", "diagnosis") and colon and "=" not in rest
        look = [f"--{kind}", rest] if named else ["--expression", search["look_for"]]
        parts = ["bisect", search["agent"], "--good", search["good"], "--bad", search["bad"]]
        parts += ["--scenario", scenarios, *look]
    else:
        parts = ["sweep", "--agents", binaries_text(sweep.plan.get("binaries", []))]
        parts += ["--scenarios", scenarios]
    repeat = int(sweep.plan.get("repeat", 1))
    parts += ["--repeat", str(repeat)] if repeat > 1 else []
    parts += ["--only-missing"] if "missing" in sweep.plan else []
    for name, value in sorted(sweep.plan.get("sets", {}).items()):
        parts += ["--set", f"{name}={value}"]
    return shlex.join([*start, *parts])


def binaries_text(pairs: Iterable[Iterable[str]]) -> str:
    """``copilot@1.0.60,1.0.73`` from pairs."""
    found: dict[str, list[str]] = {}
    for agent, version in pairs:
        found.setdefault(agent, []).append(version)
    return ",".join(f"{agent}@{','.join(versions)}" for agent, versions in found.items())


def track(sweep: Sweep) -> list[dict[str, Any]]:
    """Every version of a bisection in order: what it showed, and where the answer lies."""
    steps = {step["version"]: step for step in sweep.result.get("steps", [])}
    first, before = sweep.result.get("first"), sweep.result.get("last_before")
    rows = []
    for version in sweep.search.get("versions", []):
        saw = steps.get(version, {}).get("saw", "").partition(" (")[0]
        rows.append(
            {
                "version": version,
                "saw": saw,
                "tone": _shown(saw),
                "now": version == sweep.result.get("asks") and not sweep.result.get("verdict"),
                "first": version == first,
                "before": version == before,
            }
        )
    return rows


def _shown(saw: str) -> str:
    """The tone of ``2 of 3``: bad where most showed it, ok where none did."""
    if not saw or saw.startswith("skipped"):
        return "unknown" if saw else "wait"
    hits, _, known = saw.partition(" of ")
    if not hits.isdigit() or not known.isdigit() or known == "0":
        return "unknown"
    return "ok" if hits == "0" else "bad" if 2 * int(hits) >= int(known) else "unknown"


def steps(sweep: Sweep) -> list[dict[str, Any]]:
    """The steps with their runs as rows, in the order in which they were made."""
    runs: dict[str, list[Run]] = {}
    for run in sweep.runs.order_by("pk"):
        runs.setdefault(run.version, []).append(run)
    known = {step["version"]: step["saw"] for step in sweep.result.get("steps", [])}
    return [
        {"version": version, "saw": known.get(version, ""), "tone": _shown(known.get(version, "")),
         "runs": made, "open": any(run.is_open for run in made)}
        for version, made in runs.items()
    ]  # fmt: skip


def bisect_block(sweep: Sweep, address: str) -> str:
    """The bisection as Markdown to paste."""
    search, result = sweep.search, sweep.result
    lines = [
        f"### {markdown(search['agent'])}: {bisections.place(search)} version that shows "
        f"{markdown(search['look_for'])}",
        "",
        markdown(result.get("reason") or "Not answered yet.", 900),
        "",
        f"Scenario {markdown(','.join(sweep.plan['scenarios']))}, between "
        f"{markdown(search['good'])} and {markdown(search['bad'])} "
        f"({len(search['versions'])} published versions).",
        "",
        "| version | shows it |",
        "|---|---|",
    ]
    rows = sorted(result.get("steps", []), key=lambda step: key(step["version"]))
    lines += [f"| {markdown(row['version'])} | {markdown(row['saw'])} |" for row in rows]
    return "\n".join([*lines, "", code_block(command(sweep)), "", address, ""])
