"""Example runs of the reference agent: a law broken and holding, a fault at work."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from fakes.reference_agent.misbehaviours import Misbehaviour, table
from runs import catalogue, start
from runs.errors import UnknownName
from runs.models import Run

AGENT = "reference"


@dataclass(frozen=True, slots=True)
class Example:
    """A run that can be started at once. `says`: what the agent does in it."""

    scenario: str
    says: str
    sets: Mapping[str, Any] = field(default_factory=dict)

    def start(self) -> Run:
        """Make the run and queue it."""
        return start.create(AGENT, "", self.scenario, sets=self.sets)[0]


def of_law(law: str) -> dict[str, Example]:
    """``broken`` and ``holds``: the agent with a misbehaviour of this law, and its healthy twin."""
    found = next((each for each in table().values() if each.law == law), None)
    if found is None:
        return {}
    return {"broken": _broken(found), "holds": _holds(found)}


def _broken(entry: Misbehaviour) -> Example:
    sets = {**entry.sets, f"agents.{AGENT}.misbehave": entry.name}
    return Example(entry.scenario, entry.says, sets)


def _holds(entry: Misbehaviour) -> Example:
    sets = {} if entry.twin else dict(entry.sets)
    return Example(entry.twin or entry.scenario, "The same agent as it should be.", sets)


def of_fault(name: str) -> Example | None:
    """The scenario that aims this fault at the one child, else any that uses it."""
    scenarios = catalogue.scenarios()
    using = [each for each in scenarios.values() if any(f["fault"] == name for f in each.faults)]
    using.sort(key=lambda each: (each.name != name, len(each.faults), each.name))
    if using:
        return Example(using[0].name, using[0].question)
    return Example(name, scenarios[name].question) if name in scenarios else None


def law(name: str, which: str) -> Example:
    """The example of a law; UnknownName when there is none."""
    found = of_law(name).get(which)
    if found is None:
        raise UnknownName(f"There is no example of {name} {which}.", "See /laws/.")
    return found


def fault(name: str) -> Example:
    """The example of a fault; UnknownName when there is none."""
    found = of_fault(name)
    if found is None:
        raise UnknownName(f"There is no example of {name}.", "See /faults/.")
    return found
