"""Bisections: the stored side of ``core.bisect``. Each step is made again from the runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from runs import binaries, catalogue, models, report, saved
from runs.core.bisect import Ask, Found, plan, words
from runs.core.look import Look, look_for
from runs.errors import HarnessError, UnknownName
from runs.versions import key

CANNOT_START = ("startup-failed",)


def create(
    agent: str, good: str, bad: str, scenario_name: str, look: str, *, repeat: int = 1
) -> models.Sweep:
    """Make a bisection of `agent` between two versions; nothing runs before it is advanced.

    `look` is what to look for (:mod:`runs.core.look`; LookError). UnknownName: a version that
    is not published. HarnessError: the good version is not older than the bad one.
    """
    driver = catalogue.driver(agent)
    saved.load(scenario_name)
    look_for(look)
    known = [item.version for item in binaries.versions(agent)]
    for end in (good, bad):
        if end not in known:
            raise UnknownName(
                f"{driver.name} {end} is not among the {len(known)} known versions.",
                "See `binaries list`.",
            )
    if key(good) == key(bad):
        raise HarnessError("The two ends are the same version.")
    forward = key(good) < key(bad)
    versions = binaries.expand(agent, f"{good}..{bad}" if forward else f"{bad}..{good}")
    return models.Sweep.objects.create(
        plan={"scenarios": [scenario_name], "repeat": repeat, "sets": {}},
        search={
            "agent": agent,
            "good": good,
            "bad": bad,
            "versions": versions if forward else versions[::-1],
            "look_for": look,
            "repeat": repeat,
        },
    )


def advance(sweep: models.Sweep) -> None:
    """Ask for the next runs once the last ones have ended, or store the answer."""
    from runs import sweeps

    if sweep.runs.filter(status__in=models.Run.OPEN).exists():
        return
    search = sweep.search
    seen, skipped, steps = observed(sweep)
    answer = plan(search["versions"], seen, repeat=search["repeat"], skipped=frozenset(skipped))
    sweep.result = {"steps": steps, "verdict": None, "last_before": None, "first": None}
    if isinstance(answer, Ask):
        name = sweep.plan["scenarios"][0]
        sweeps.add_runs(sweep, search["agent"], answer.version, name, answer.times)
        sweep.result["asks"] = answer.version
    elif isinstance(answer, Found):
        sweep.result |= {
            "verdict": "found",
            "last_before": answer.last_before,
            "first": answer.first,
            "reason": f"{answer.first} is the first version that shows {search['look_for']}.",
        }
    else:
        sweep.result |= {
            "verdict": "cannot-tell",
            "last_before": answer.last_before or None,
            "first": answer.first or None,
            "reason": answer.reason,
        }


def observed(
    sweep: models.Sweep,
) -> tuple[dict[str, list[bool | None]], list[str], list[dict[str, Any]]]:
    """What each version showed, the versions that cannot run, and the steps in order."""
    look = look_for(sweep.search["look_for"])
    seen: dict[str, list[bool | None]] = {}
    runs: dict[str, list[models.Run]] = {}
    for run in sweep.runs.exclude(status__in=models.Run.OPEN).order_by("pk"):
        seen.setdefault(run.version, []).append(_shows(run, look))
        runs.setdefault(run.version, []).append(run)
    skipped = [version for version, made in runs.items() if _cannot_run(made)]
    steps = [
        {
            "version": version,
            "runs": [run.permalink for run in made],
            "saw": "skipped: it cannot run" if version in skipped else words(seen[version]),
        }
        for version, made in runs.items()
    ]
    return seen, skipped, steps


def _shows(run: models.Run, look: Look) -> bool | None:
    return look.shows(report.document(run))


def _cannot_run(runs: Sequence[models.Run]) -> bool:
    """Whether two tries ended before the agent did anything."""
    failed = [
        run.outcome in CANNOT_START or run.status == models.Run.Status.ERRORED for run in runs
    ]
    return sum(failed) >= 2 and all(failed)
