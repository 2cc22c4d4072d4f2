"""The registries in one place, cached: drivers, scenarios, scripts, faults, laws."""

from __future__ import annotations

import importlib
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from fakes.registry import members
from runs.errors import UnknownName
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
def faults() -> Mapping[str, type[Fault]]:
    """Every fault class by its name (``sse-cut``)."""
    return {fault.name: fault for fault in members(_package("fakes.faults"), "FAULT").values()}


@cache
def scripts() -> Mapping[str, type[Script]]:
    """Every script class by its name (``delegate-one``)."""
    return {item.name: item for item in members(_package("fakes.scripts"), "SCRIPT").values()}


@cache
def laws() -> Mapping[str, Law]:
    """Every law by id, in order."""
    found = members(_package("runs.core.laws"), "LAW").values()
    return {law.id: law for law in sorted(found, key=lambda law: int(law.id[1:]))}


@cache
def scenarios() -> Mapping[str, Scenario]:
    """Every scenario that ships, by name."""
    return shipped()


def build_script(scenario: Scenario) -> Script:
    """The scenario's script with its settings; ScenarioError names the nearest known key."""
    known = scripts()
    if scenario.script not in known:
        raise ScenarioError(
            f"script {scenario.script!r} does not exist. {nearest(scenario.script, known)}"
        )
    return _construct(known[scenario.script], scenario.settings, "settings")


def build_faults(scenario: Scenario) -> list[AimedFault]:
    """The scenario's faults with their targets; ScenarioError names the nearest known key."""
    from fakes.targeting import AimedFault, Target

    known, aimed = faults(), []
    for number, item in enumerate(scenario.faults):
        name = item["fault"]
        if name not in known:
            raise ScenarioError(f"faults.{number}: no fault {name!r}. {nearest(name, known)}")
        given = {key: value for key, value in item.items() if key not in ("fault", "on")}
        fault = _construct(known[name], given, f"faults.{number}")
        try:
            target = Target.parse(item.get("on", {}))
        except ValueError as error:
            raise ScenarioError(f"faults.{number}.on: {error}") from None
        aimed.append(AimedFault(fault, target))
    return aimed


def _construct(cls: Any, given: Mapping[str, Any], where: str) -> Any:
    known = [item.name for item in fields(cls) if item.init]
    for key in given:
        if key not in known:
            raise ScenarioError(f"{where}.{key} is not known. {nearest(key, known)}")
    try:
        return cls(**given)
    except (TypeError, ValueError) as error:
        raise ScenarioError(f"{where}: {error}") from None
