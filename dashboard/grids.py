"""The matrix as the page asks for it: which cells, in what order, what changed, what is missing.

The stored cells (runs/grid.py) are read as they are. The address holds the whole view:
``?agent=copilot&versions=1.0.60,1.0.81..&scenario=sse-cut,success&only=broken&repeat=3``.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode

from django.conf import settings
from django.db.models import Avg, DurationField, ExpressionWrapper, F

from runs import binaries, catalogue, grid, models, saved, words
from runs.core import matrix
from runs.errors import HarnessError
from runs.versions import expand, key, ordered, valid

ONLY = {"": "all cells", "broken": "broken laws", "mixed": "mixed cells", "changed": "changes"}
MOST_NAMES = 200
FALLBACK_SECONDS = 20.0
"""What a run is thought to take where none has ended yet."""

Place = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class Asked:
    """What the address asks for."""

    agents: tuple[str, ...] = ()
    versions: str = ""
    scenarios: tuple[str, ...] = ()
    only: str = ""
    repeat: int = 1
    newest_first: bool = False

    @classmethod
    def read(cls, query: Any) -> Asked:
        """From the address (a QueryDict); what makes no sense is left out."""
        repeat = query.get("repeat", "")
        only = query.get("only", "")
        return cls(
            agents=_names(query.getlist("agent")),
            versions=query.get("versions", "").replace("\x00", "").strip()[:500],
            scenarios=_names(query.getlist("scenario")),
            only=only if only in ONLY else "",
            repeat=min(100, int(repeat)) if repeat.isdecimal() and int(repeat[:4]) > 0 else 1,
            newest_first=query.get("order") == "newest",
        )

    def address(self, **changes: Any) -> str:
        """The query of this view with some of it changed, without a question mark."""
        order = "newest" if self.newest_first else ""
        parts = {
            "agent": ",".join(self.agents),
            "versions": self.versions,
            "scenario": ",".join(self.scenarios),
            "only": self.only,
            "repeat": str(self.repeat) if self.repeat > 1 else "",
            "order": order,
        } | changes
        return urlencode({name: value for name, value in parts.items() if value})


def _names(given: Iterable[str]) -> tuple[str, ...]:
    parts = (part.strip() for text in given for part in text.replace(" ", ",").split(","))
    names = [part for part in parts if part and len(part) <= 80 and part.isprintable()]
    return tuple(dict.fromkeys(names))[:MOST_NAMES]


@dataclass(slots=True)
class Block:
    """One agent's part of the matrix."""

    agent: str
    versions: list[str]
    notes: Mapping[str, str]
    """By version: when it was published."""


@dataclass(slots=True)
class Grid:
    """The whole view."""

    asked: Asked
    blocks: list[Block]
    scenarios: list[str]
    cells: Mapping[Place, matrix.Cell]
    changes: list[matrix.Change]
    missing: list[Place] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def count(self) -> int:
        """Rows × columns."""
        return sum(len(block.versions) for block in self.blocks) * len(self.scenarios)


def grid_of(asked: Asked, cells: Mapping[Place, matrix.Cell] | None = None) -> Grid:
    """The view; `cells` instead of the stored ones where a sweep shows its own."""
    problems: list[str] = []
    if cells is None:
        cells = grid.stored(agents=asked.agents, scenarios=asked.scenarios)
    wanted = _versions(asked, cells, problems)
    shown = {p: c for p, c in cells.items() if p[1] in wanted.get(p[0], ())}
    changes = matrix.changes(shown, key)
    kept = _kept(asked.only, shown, changes)
    rows = (
        {
            agent: [v for v in versions if kept is None or (agent, v) in {p[:2] for p in kept}]
            for agent, versions in wanted.items()
        }
        if asked.only
        else wanted
    )
    columns = _columns(asked, shown if kept is None else kept)
    blocks = []
    for agent, versions in sorted(rows.items()):
        if versions:
            line = ordered(versions)
            blocks.append(Block(agent, line[::-1] if asked.newest_first else line, _dates(agent)))
    result = Grid(asked, blocks, columns, shown, changes, problems=problems)
    result.missing = [] if asked.only else _missing(result)
    return result


def _versions(
    asked: Asked, cells: Mapping[Place, matrix.Cell], problems: list[str]
) -> dict[str, list[str]]:
    """By agent: the versions of the view. A range takes those that ran, a name stands always."""
    have: dict[str, set[str]] = {agent: set() for agent in asked.agents}
    for agent, version, _ in cells:
        have.setdefault(agent, set()).add(version)
    if not asked.versions:
        return {agent: list(found) for agent, found in have.items()}
    result = {}
    for agent, found in have.items():
        try:
            result[agent] = expand(agent, asked.versions, sorted(found))
        except HarnessError as error:
            problems.append(f"{agent}: {error.what}")
            result[agent] = []
    return result


def _dates(agent: str) -> dict[str, str]:
    """Published versions with their dates, from the kept list; never asks a registry."""
    try:
        found = binaries.versions(agent, refresh=False)
    except (HarnessError, OSError):
        return {}
    return {item.version: item.date[:10] for item in found}


def _kept(
    only: str, cells: Mapping[Place, matrix.Cell], changes: Iterable[matrix.Change]
) -> set[Place] | None:
    """The cells that `only` asks for, None for all."""
    if only == "broken":
        return {place for place, cell in cells.items() if cell["broken"]}
    if only == "mixed":
        return {place for place, cell in cells.items() if len(matrix.spoken(cell)) > 1}
    if only == "changed":
        ends = [(c["agent"], c["scenario"], v) for c in changes for v in (c["before"], c["after"])]
        return {(agent, version, scenario) for agent, scenario, version in ends}
    return None


def _columns(asked: Asked, places: Iterable[Place]) -> list[str]:
    """Scenarios: those that were named in that order, else controls first, then by name."""
    if asked.scenarios:
        return list(asked.scenarios)
    known = saved.known()
    found = {scenario for _, _, scenario in places}
    return sorted(found, key=lambda name: (not (name in known and known[name].control), name))


def _missing(view: Grid) -> list[Place]:
    """Cells of the view that have fewer ended runs than are asked for, and can be run."""
    found = []
    known = saved.known()
    for block in view.blocks:
        if block.agent not in catalogue.drivers():
            continue
        not_here = catalogue.not_applicable(block.agent, known.values())
        for version in filter(valid, block.versions):
            for scenario in view.scenarios:
                place = (block.agent, version, scenario)
                cell = view.cells.get(place)
                if scenario not in known or scenario in not_here:
                    continue
                if cell is None or cell["n"] < view.asked.repeat:
                    found.append(place)
    return found


def missing_runs(view: Grid) -> int:
    """How many runs would fill what is missing."""
    have = (view.cells.get(place) for place in view.missing)
    return sum(view.asked.repeat - (cell["n"] if cell else 0) for cell in have)


def seconds_for(agents: Mapping[str, int]) -> float:
    """About how long so many runs of each agent take here, by what ended runs took."""
    spent = ExpressionWrapper(F("ended_at") - F("started_at"), output_field=DurationField())
    ended = models.Run.objects.filter(
        status=models.Run.Status.ENDED, kind=models.Run.Kind.RUN, agent__in=list(agents)
    ).exclude(started_at=None)
    newest = ended.order_by("-pk").values_list("pk", flat=True)[:400]
    rows = models.Run.objects.filter(pk__in=list(newest)).values("agent").annotate(a=Avg(spent))
    means: dict[str, float] = {
        row["agent"]: row["a"].total_seconds() for row in rows if row["a"] is not None
    }
    total = sum(count * means.get(agent, FALLBACK_SECONDS) for agent, count in agents.items())
    return total / max(1, settings.CONCURRENCY)


def about(seconds: float) -> str:
    """`about 6 minutes`, `about 20 seconds`."""
    if seconds < 90:
        return f"about {words.plural(max(5, round(seconds / 5) * 5), 'second')}"
    if seconds < 5400:
        return f"about {words.plural(round(seconds / 60), 'minute')}"
    return f"about {words.plural(round(seconds / 3600), 'hour')}"
