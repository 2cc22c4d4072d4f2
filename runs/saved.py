"""Scenarios that people saved: by name, with all their versions. Shipped names are taken.

A save never changes what was there: it adds a version, and the newest is in force.
What a run did stays in the run's own snapshot in any case.
"""

from __future__ import annotations

from collections.abc import Mapping

from django.db import IntegrityError, transaction
from django.db.models import Max

from runs import catalogue, scenario
from runs.models import SavedScenario
from runs.scenario import Scenario, ScenarioError, nearest

RESERVED = frozenset({"new", "import", "check"})
"""Names that addresses of the pages need."""
LIMIT = 500
"""How many names can be saved; each keeps up to as many versions."""


def names() -> list[str]:
    """All saved names, in order."""
    return sorted(set(SavedScenario.objects.values_list("name", flat=True)))


def versions(name: str) -> list[SavedScenario]:
    """All versions of a name, newest first; empty when nothing is saved under it."""
    return list(SavedScenario.objects.filter(name=name).order_by("-number"))


def newest(name: str) -> SavedScenario | None:
    """The version in force."""
    return SavedScenario.objects.filter(name=name).order_by("-number").first()


def find(name: str) -> Scenario | None:
    """The saved scenario of that name; ScenarioError when this Lifeline cannot read it."""
    row = newest(name)
    return Scenario.read(row.toml) if row else None


def everything() -> dict[str, Scenario]:
    """All saved scenarios that can be read, by name."""
    found = {}
    for name in names():
        try:
            read = find(name)
        except ScenarioError:  # saved by another version of Lifeline; its own page says why
            continue
        if read and name not in catalogue.scenarios():
            found[name] = read
    return found


def known() -> Mapping[str, Scenario]:
    """Shipped and saved scenarios, by name; the saved ones come last."""
    return {**catalogue.scenarios(), **everything()}


def load(name: str) -> Scenario:
    """A shipped or saved scenario by name, or one from a ``.toml`` file (command line only)."""
    if name in catalogue.scenarios() or (name.endswith(".toml") and not newest(name)):
        return scenario.load(name)
    found = find(name)
    if found is None:
        raise ScenarioError(f"There is no scenario {name!r}. {nearest(name, known())}")
    return found


def save(text: str, origin: str = "") -> SavedScenario:
    """Save this TOML under its own name; gives the version in force.

    ScenarioError: not valid, or the name ships with Lifeline. An unchanged text adds none.
    """
    name = Scenario.read(text).name
    if name in RESERVED:
        raise ScenarioError(f"name {name!r} is taken by a page. Choose another.")
    if name in catalogue.scenarios():
        raise ScenarioError(
            f"name {name!r} ships with Lifeline and cannot be changed. Choose another."
        )
    for _ in range(5):
        try:
            with transaction.atomic():
                return _add(name, text, origin)
        except IntegrityError:  # somebody saved the same name at the same moment
            continue
    raise ScenarioError(f"{name!r} is being saved by others. Try again.")


def _add(name: str, text: str, origin: str) -> SavedScenario:
    before = newest(name)
    if before and before.toml == text:
        return before
    if not before and len(names()) >= LIMIT:
        raise ScenarioError(f"{LIMIT} scenarios are saved. Delete one first.")
    last = SavedScenario.objects.filter(name=name).aggregate(last=Max("number"))["last"] or 0
    if last >= LIMIT:
        raise ScenarioError(f"{name!r} has {LIMIT} versions. Save it under another name.")
    return SavedScenario.objects.create(name=name, number=last + 1, toml=text, origin=origin)


def delete(name: str) -> None:
    """Forget all versions of a name. Runs keep their own snapshot."""
    SavedScenario.objects.filter(name=name).delete()
