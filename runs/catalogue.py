"""The registries in one place, cached: drivers, scenarios, scripts, faults, laws."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Mapping
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fakes.registry import members
from runs.errors import NotApplicable, UnknownName
from runs.scenario import Scenario, ScenarioError, nearest, shipped

if TYPE_CHECKING:
    from fakes.fault import Fault
    from fakes.script import Script
    from fakes.targeting import AimedFault
    from runs.core.law import Law
    from runs.driver import Driver


def _package(name: str) -> ModuleType:
    return importlib.import_module(name)


@cache
def drivers() -> Mapping[str, Driver]:
    """Every driver by agent name."""
    return {driver.name: driver for driver in members(_package("runs.drivers"), "DRIVER").values()}


def driver(name: str) -> Driver:
    """One driver; UnknownName names the nearest."""
    known = drivers()
    if name not in known:
        raise UnknownName(f"There is no agent {name!r}.", nearest(name, known))
    return known[name]


@cache
def laws() -> Mapping[str, Law]:
    """Every law by id, in order."""
    found = members(_package("runs.core.laws"), "LAW").values()
    return {law.id: law for law in sorted(found, key=lambda law: int(law.id[1:]))}


@cache
def scenarios() -> Mapping[str, Scenario]:
    """Every scenario that ships, by name."""
    return shipped()


def not_applicable(agent: str, known: Iterable[Scenario]) -> dict[str, str]:
    """Why a scenario or fault has no meaning for this agent, by its name.

    The driver's own reasons, and the scenarios of `known` that are only for others.
    """
    reasons, unnamed = dict(driver(agent).not_applicable), driver(agent).only_named
    for scenario in known:
        if unnamed and agent not in (*scenario.only, *scenario.agents):
            reasons.setdefault(scenario.name, unnamed)
        if scenario.only and agent not in scenario.only:
            *others, last = scenario.only
            named = f"{', '.join(others)} and {last}" if others else last
            reasons.setdefault(scenario.name, f"it has a meaning only for {named}")
    return reasons


def check_meaning(agent: str, version: str, scenario: Scenario, options: Mapping[str, Any]) -> None:
    """NotApplicable, with the reason, where a scenario has no meaning for this binary.

    `options` are the driver's, in their types. A run of it would say nothing, and look healthy.
    """
    chosen = driver(agent)
    reasons = not_applicable(agent, [scenario]) | chosen.no_meaning(options, version)
    names = [scenario.name, *(str(item.get("fault")) for item in scenario.faults)]
    why = next((reasons[name] for name in names if name in reasons), "")
    if why:
        raise NotApplicable(
            f"{scenario.name} has no meaning for {chosen.title}: {why}.",
            f"See /agents/{agent}/ for what has one.",
        )


def faults() -> Mapping[str, type[Fault]]:
    """Every fault class by its name (``sse-cut``)."""
    from fakes.fault import faults as known

    return known()


def scripts() -> Mapping[str, type[Script]]:
    """Every script class by its name (``delegate-one``)."""
    from fakes.script import scripts as known

    return known()


def build_script(scenario: Scenario) -> Script:
    """The scenario's script with its settings; ScenarioError names the nearest known key."""
    from fakes.script import make_script

    try:
        return make_script(scenario.script, scenario.settings)
    except ValueError as error:
        raise ScenarioError(f"script: {error}") from None


def build_faults(scenario: Scenario) -> list[AimedFault]:
    """The scenario's faults with their targets; ScenarioError names the nearest known key."""
    from fakes.fault import aim

    aimed = []
    for number, item in enumerate(scenario.faults):
        try:
            aimed.append(aim(item))
        except ValueError as error:
            raise ScenarioError(f"faults.{number}: {error}") from None
    return aimed
