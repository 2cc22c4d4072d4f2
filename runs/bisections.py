"""Bisections: the stored side of ``core.bisect``. Each step is made again from the runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runs import binaries, catalogue, models, named, report, saved, start
from runs.core.bisect import FAILURES, Ask, Found, plan, words
from runs.core.look import Look, look_for
from runs.errors import HarnessError, UnknownName
from runs.versions import key

ASKED_TWICE = 2
"""Tries after which a version that cannot run is left out."""


def create(
    agent: str, good: str, bad: str, scenario_name: str, look: str, *, repeat: int = 1
) -> models.Sweep:
    """Make a bisection of `agent` between two versions; nothing runs before it is advanced.

    `look` is what to look for (:mod:`runs.core.look`; LookError). UnknownName: a version that
    is not published. HarnessError: the good version is not older than the bad one.
    """
    driver = catalogue.driver(agent)
    chosen, options = saved.load(scenario_name).with_sets({})
    good, bad = named.resolve(agent, good), named.resolve(agent, bad)
    for end in (good, bad):
        catalogue.check_meaning(agent, end, chosen, driver.read_options(options.get(agent, {})))
    look_for(look)
    start.check_repeat(repeat)
    known = [item.version for item in binaries.versions(agent)]
    for end in (good, bad):
        if end not in known:
            raise UnknownName(
                f"{driver.name} {end} is not among the {len(known)} known versions.",
                f"See `binaries list {agent}`.",
            )
    if key(good) == key(bad):
        raise HarnessError("The two ends are the same version.")
    forward = key(good) < key(bad)
    versions = named.expand(agent, f"{good}..{bad}" if forward else f"{bad}..{good}")
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


def place(search: Mapping[str, Any]) -> str:
    """``first``; ``last`` where the good version is the newer one: what ended it is looked for."""
    return "first" if key(search["good"]) < key(search["bad"]) else "last"


def retry(sweep: models.Sweep) -> None:
    """Go on where failed runs ended it without an answer; those runs count no longer."""
    failed = sweep.runs.filter(status__in=(models.Run.Status.ERRORED, models.Run.Status.LOST))
    if sweep.result.get("verdict") == "cannot-tell" and failed.update(sweep=None):
        models.Sweep.objects.filter(pk=sweep.pk, state=models.Sweep.State.ENDED).update(
            state=models.Sweep.State.GOING, ended_at=None
        )


def advance(sweep: models.Sweep) -> None:
    """Ask for the next runs once the last ones have ended, or store the answer."""
    from runs import sweeps

    if sweep.runs.filter(status__in=models.Run.OPEN).exists():
        return
    search = sweep.search
    seen = observed(sweep)
    answer = plan(
        search["versions"],
        seen.shown,
        repeat=search["repeat"],
        skipped=frozenset(seen.skipped),
        failing=seen.failing,
    )
    sweep.result = {"steps": seen.steps(), "verdict": None, "last_before": None, "first": None}
    if isinstance(answer, Ask):
        name = sweep.plan["scenarios"][0]
        sweeps.add_runs(sweep, search["agent"], answer.version, name, answer.times)
        sweep.result["asks"] = answer.version
    elif isinstance(answer, Found):
        sweep.result |= {
            "verdict": "found",
            "last_before": answer.last_before,
            "first": answer.first,
            "reason": f"{answer.first} is the {place(search)} version that shows "
            f"{search['look_for']}.",
        }
    else:
        sweep.result |= {
            "verdict": "cannot-tell",
            "last_before": answer.last_before or None,
            "first": answer.first or None,
            "reason": answer.reason,
            "failed": bool(seen.failing),
        }


@dataclass(slots=True)
class Observed:
    """What the ended runs of each version add up to, in the order of the steps."""

    runs: dict[str, list[models.Run]] = field(default_factory=dict)
    shown: dict[str, list[bool | None]] = field(default_factory=dict)
    skipped: list[str] = field(default_factory=list)
    """Versions that cannot run."""
    failing: dict[str, str] = field(default_factory=dict)
    """Versions whose tries all failed for reasons that are not theirs, and the last reason."""

    def steps(self) -> list[dict[str, Any]]:
        """The steps of ``bisect --json``."""
        return [
            {
                "version": version,
                "runs": [run.permalink for run in made],
                "saw": self._saw(version),
            }
            for version, made in self.runs.items()
        ]

    def _saw(self, version: str) -> str:
        if version in self.skipped:
            return f"skipped: it cannot run{_why(self.runs[version][-1])}"
        return words(self.shown[version])


def observed(sweep: models.Sweep) -> Observed:
    """What each version showed. A run that somebody cancelled is none."""
    look = look_for(sweep.search["look_for"])
    found = Observed()
    closed = sweep.runs.exclude(status__in=(*models.Run.OPEN, models.Run.Status.CANCELLED))
    for run in closed.order_by("pk"):
        found.runs.setdefault(run.version, []).append(run)
        found.shown.setdefault(run.version, []).append(_shows(run, look))
    for version, made in found.runs.items():
        if len(made) >= ASKED_TWICE and all(_cannot_run(run) for run in made):
            found.skipped.append(version)
        elif len(made) >= FAILURES and all(_failed(run) for run in made):
            found.failing[version] = str(made[-1].error.get("what") or made[-1].status)
    return found


def _shows(run: models.Run, look: Look) -> bool | None:
    return look.shows(report.document(run))


def _cannot_run(run: models.Run) -> bool:
    """Whether this version is to blame: it is not there, not for this host, or does not start.

    A network that failed, a full disk or a killed worker says nothing about a version.
    """
    errored = run.status == models.Run.Status.ERRORED
    if errored:
        return bool(run.error.get("of") == "version")
    return run.status == models.Run.Status.ENDED and run.outcome == "startup-failed"


def _failed(run: models.Run) -> bool:
    """Whether the run says nothing about its version because it never ran to its end."""
    return run.status in (models.Run.Status.ERRORED, models.Run.Status.LOST)


def _why(run: models.Run) -> str:
    what = str(run.error.get("what") or "")
    return f" ({what.rstrip('.')})" if what else ""
