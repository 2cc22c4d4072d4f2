"""What an import proposes to run: the agent as recognised, the scenario that is nearest.

Nearness counts what the provider's log shows first (faults, statuses, how exchanges
ended), then which laws are broken, then how many children there are. No prose is read.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from runs import catalogue, models, words
from runs.errors import NotApplicable
from runs.scenario import Scenario

_BY_CLASS = {
    "rate_limit": "http-429",
    "overloaded": "http-529",
    "auth": "http-401",
    "bad_request": "http-400",
    "server": "http-500",
    "stream": "sse-cut",
    "timeout": "stall",
    "refused": "refused",
}
"""The scenario for what an agent's own records say of an error, where no provider log is there."""
_BY_CLOSED = {"cut": "chunk-cut", "reset": "reset-mid-body", "refused": "refused", "open": "stall"}
_BY_DIAGNOSIS = {
    "cut_stream_false_completion": "sse-cut",
    "provider_error_false_completion": "http-500",
    "truncated_success": "response-incomplete",
    "stall": "stall",
    "rate_limit_wave": "rate-limit-wave",
    "slots_leaked": "over-the-limit",
    "hidden_permission": "child-asks",
    "cancel_ignored": "cancel-child",
    "cancel_overreach": "cancel-child",
    "resume_lost_outcome": "restart-ended",
    "model_substituted": "other-model",
    "early_exit_children_lost": "parent-goes-on",
    "healthy": "success",
}


@dataclass(slots=True)
class Proposal:
    """One run that could be started. `version` is empty for the newest; `why`: sentences."""

    agent: str
    version: str
    scenario: Scenario
    why: list[str] = field(default_factory=list)


def propose(run: models.Run) -> Proposal | None:
    """The nearest reproduction of an import; None where its agent cannot be driven here."""
    if run.kind != models.Run.Kind.IMPORT or run.agent not in catalogue.drivers():
        return None
    scores, why = _scores(run)
    known = {
        name: scenario
        for name, scenario in catalogue.scenarios().items()
        if _has_meaning(run, scenario)
    }
    best = max(sorted(known), key=lambda name: (scores[name], name == "sse-cut"), default=None)
    if best is None:
        return None
    version = f" {run.version}" if run.version else ""
    recognised = f"{run.agent}{version} wrote these files."
    return Proposal(run.agent, run.version, known[best], [recognised, *why.get(best, [])])


def _has_meaning(run: models.Run, scenario: Scenario) -> bool:
    """False where a run of it would be refused for this agent, with the options that it names."""
    options = catalogue.driver(run.agent).read_options(scenario.agents.get(run.agent, {}))
    try:
        catalogue.check_meaning(run.agent, run.version, scenario, options)
    except NotApplicable:
        return False
    return True


def _scores(run: models.Run) -> tuple[Counter[str], Mapping[str, list[str]]]:
    scores: Counter[str] = Counter()
    why: dict[str, list[str]] = {}

    def add(name: str, points: int, words: str) -> None:
        if name in catalogue.scenarios():
            scores[name] += points
            why.setdefault(name, []).append(words)

    add(run.scenario, 100, f"They are a run of {run.scenario}.")
    agents = run.summary.get("agents") or []
    children = [row for row in agents if row.get("parent")]
    _from_wire(run.summary.get("attempts") or [], add)
    if not run.summary.get("attempts"):
        for word, count in _error_classes(run).items():
            if word in _BY_CLASS:
                add(_BY_CLASS[word], 8, f"{words.plural(count, 'error')} of the class {word}.")
    diagnosis = _BY_DIAGNOSIS.get(run.diagnosis)
    if diagnosis:
        add(diagnosis, 6, f"The diagnosis is {run.diagnosis.replace('_', ' ')}.")
    broken = set(run.broken.split())
    for name, scenario in catalogue.scenarios().items():
        shared = sorted(broken & set(scenario.laws))
        if shared:
            scores[name] += 2 * len(shared) - len(set(scenario.laws) - broken) // 3
            why.setdefault(name, []).append(
                f"It puts {', '.join(shared)} to the test, broken here."
            )
        many = scenario.script == "delegate-many"
        scores[name] += 1 if many == (len(children) > 1) else -1
    return scores, why


def _from_wire(attempts: list[dict[str, Any]], add: Any) -> None:
    """What the provider's log shows, by what happened to most tries."""
    failed = [row for row in attempts if not row.get("complete")]
    if not failed:
        return
    faults = Counter(str(row["fault"]) for row in failed if row.get("fault"))
    for fault, count in faults.most_common(2):
        tries = words.plural(count, "try", "tries")
        add(fault, 20, f"The provider's log shows {fault} in {tries}.")
    statuses = Counter(int(row["http_status"] or 0) for row in failed)
    status, count = statuses.most_common(1)[0]
    if status >= 400:
        tries = words.plural(count, "try was", "tries were")
        add(f"http-{status}", 16, f"{tries} answered with HTTP {status}.")
    elif not faults:
        closed, count = Counter(str(row["closed"]) for row in failed).most_common(1)[0]
        ended = f"{words.plural(count, 'exchange')} ended as {closed}."
        add(_BY_CLOSED.get(closed, "sse-cut"), 8, ended)
    callers = {str(row["caller"]).partition(":")[0] for row in failed}
    if callers == {"grandchild"}:
        add("grandchild-cut", 12, "Only a grandchild's calls failed.")
    if callers == {"parent"}:
        add("parent-cut", 12, "Only the parent's calls failed.")


def _error_classes(run: models.Run) -> Counter[str]:
    rows = models.Event.objects.filter(run=run, kind__in=("error", "model.ended", "agent.ended"))
    found = (data.get("error_class") for data in rows.values_list("data", flat=True)[:5000])
    return Counter(str(word) for word in found if word)
