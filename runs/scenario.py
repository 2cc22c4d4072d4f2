"""A scenario: script, topology, aimed faults, guards, thresholds and the laws in question, as data.

Scenarios are strict TOML: an unknown key is refused with the nearest known one.
The run keeps the whole scenario as it was (its snapshot), so nothing that is
edited later changes what a run says about itself.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from runs.core.law import Thresholds

FOLDER = Path(__file__).parent / "scenarios"
NAME = re.compile(r"[a-z0-9][a-z0-9._-]{0,79}")


class ScenarioError(ValueError):
    """A scenario that is not valid; the message names the key and what is allowed."""


@dataclass(frozen=True, slots=True)
class Guards:
    """Limits of one run. Each ends it with an outcome of its own."""

    deadline: float = 180.0
    """Seconds of wall time (`timeout`)."""
    output_mib: int = 512
    """All that the agent writes to its sources (`guard-output-cap`)."""
    requests: int = 400
    """Requests to the provider (`guard-request-cap`)."""
    memory_floor_mib: int | None = None
    """Free memory, before and during (`guard-memory-floor`); None: the instance's setting."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """What a run does. Times in seconds."""

    name: str
    title: str = ""
    question: str
    script: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    faults: tuple[Mapping[str, Any], ...] = ()
    guards: Guards = field(default_factory=Guards)
    thresholds: Mapping[str, Any] = field(default_factory=dict)
    laws: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    reports: tuple[str, ...] = ()
    agents: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    only: tuple[str, ...] = ()
    """The agents for which it has a meaning; empty: all."""
    control: bool = False
    """A healthy control: nothing may be reported as broken."""

    @classmethod
    def read(cls, given: str | Mapping[str, Any]) -> Scenario:
        """From TOML text or a mapping; ScenarioError names what is wrong and where."""
        if isinstance(given, str):
            try:
                given = tomllib.loads(given)
            except tomllib.TOMLDecodeError as error:
                raise ScenarioError(f"This is not TOML: {error}.") from None
        known = [item.name for item in fields(cls)]
        _only(given, known, "the scenario")
        for key in ("name", "question", "script"):
            if not isinstance(given.get(key), str) or not given[key].strip():
                raise ScenarioError(f"The scenario needs {key!r}, a text.")
        if not NAME.fullmatch(given["name"]):
            raise ScenarioError(
                f"name {given['name']!r} may hold a–z, 0–9, '.', '_' and '-' (80 characters)."
            )
        values = dict(given)
        values["guards"] = _guards(given.get("guards", {}))
        values["faults"] = tuple(_fault(item, n) for n, item in enumerate(_list(given, "faults")))
        values["thresholds"] = _thresholds(given.get("thresholds", {}))
        for key in ("laws", "families", "reports", "only"):
            values[key] = tuple(str(item) for item in _list(given, key))
        for key in ("settings", "agents"):
            if not isinstance(given.get(key, {}), Mapping):
                raise ScenarioError(f"{key} is a table.")
        scenario = cls(**values)
        scenario.check()
        return scenario

    def check(self) -> None:
        """Script, settings, faults and targets are known; ScenarioError names the nearest."""
        from runs import catalogue

        catalogue.build_script(self)
        catalogue.build_faults(self)

    def as_dict(self) -> dict[str, Any]:
        """As JSON, without what is empty; `Scenario.read` takes it back."""
        given: dict[str, Any] = json.loads(json.dumps(asdict(self)))
        given["guards"] = {k: v for k, v in given["guards"].items() if v is not None}
        return {k: v for k, v in given.items() if v not in ([], {}, "", False, None)}

    def toml(self) -> str:
        """As the TOML that `read` takes back."""
        given = self.as_dict()
        defaults = asdict(Guards())
        guards = {k: v for k, v in given.pop("guards", {}).items() if defaults[k] != v}
        if guards:
            given["guards"] = guards
        return to_toml(given)

    def with_sets(self, sets: Mapping[str, Any]) -> tuple[Scenario, dict[str, dict[str, Any]]]:
        """Apply ``--set`` pairs (dotted keys). Gives the scenario and options by agent.

        ``agents.NAME.KEY`` is a driver's option, ``faults.0.attempt`` (a target's key or a
        fault's field), ``settings.children``, ``guards.deadline``, ``thresholds.stall_after``.
        """
        tree = self.as_dict()
        for key, value in sets.items():
            _put(tree, key.split("."), value, key)
        scenario = Scenario.read(tree)
        return scenario, {name: dict(table) for name, table in scenario.agents.items()}


def nearest(word: str, known: Iterable[str]) -> str:
    """'Did you mean …?' for the nearest known word, or the list of them."""
    known = sorted(known)
    close = difflib.get_close_matches(word, known, n=1, cutoff=0.5)
    return f"Did you mean {close[0]!r}?" if close else f"Known: {', '.join(known) or 'none'}."


def _only(given: Mapping[str, Any], known: Iterable[str], where: str) -> None:
    if not isinstance(given, Mapping):
        raise ScenarioError(f"{where} is a table.")
    known = list(known)
    for key in given:
        if key not in known:
            raise ScenarioError(f"{key!r} is no key of {where}. {nearest(str(key), known)}")


def _list(given: Mapping[str, Any], key: str) -> list[Any]:
    value = given.get(key, [])
    if not isinstance(value, list | tuple):
        raise ScenarioError(f"{key} is a list.")
    return list(value)


def _guards(given: Mapping[str, Any]) -> Guards:
    _only(given, [item.name for item in fields(Guards)], "guards")
    for key, value in given.items():
        if not _number(value) or value <= 0:
            raise ScenarioError(f"guards.{key} is a positive number, not {value!r}.")
    return Guards(**given)


def _thresholds(given: Mapping[str, Any]) -> dict[str, Any]:
    _only(given, [item.name for item in fields(Thresholds)], "thresholds")
    for key, value in given.items():
        if not _number(value):
            raise ScenarioError(f"thresholds.{key} is a number, not {value!r}.")
    return dict(given)


def _number(value: Any) -> bool:
    plain = isinstance(value, int | float) and not isinstance(value, bool)
    return plain and math.isfinite(value)


def _fault(given: Any, position: int) -> dict[str, Any]:
    if not isinstance(given, Mapping) or not isinstance(given.get("fault"), str):
        raise ScenarioError(f"faults.{position} needs 'fault', the name of a fault.")
    return dict(given)


def _put(tree: Any, path: list[str], value: Any, whole: str) -> None:
    """Set one dotted key in a tree of tables and lists; ScenarioError names the whole key."""
    here = tree
    for depth, part in enumerate(path[:-1]):
        if isinstance(here, list):
            if not part.isdigit() or int(part) >= len(here):
                raise ScenarioError(f"--set {whole}: there is no {'.'.join(path[: depth + 1])}.")
            here = here[int(part)]
        else:
            here = here.setdefault(part, {})
        if not isinstance(here, dict | list):
            raise ScenarioError(f"--set {whole}: {'.'.join(path[: depth + 1])} has no parts.")
    last = path[-1]
    if isinstance(here, list):
        raise ScenarioError(f"--set {whole}: name a key after the number.")
    in_fault = len(path) == 3 and path[0] == "faults"
    if in_fault and last in ("caller", "attempt", "turn", "form", "share", "seed"):
        here = here.setdefault("on", {})
    here[last] = parse_value(value)


def parse_value(value: Any) -> Any:
    """A command line's text as a number, true/false or list where it is one, else the text."""
    if not isinstance(value, str):
        return value
    try:
        return tomllib.loads(f"v = {value}")["v"]
    except tomllib.TOMLDecodeError:
        return value


def to_toml(given: Mapping[str, Any]) -> str:
    """A tree of tables as TOML: plain keys first, then tables, then lists of tables."""
    lines: list[str] = []
    _write_table(given, "", lines)
    return "\n".join(lines).strip() + "\n"


def _write_table(table: Mapping[str, Any], prefix: str, lines: list[str]) -> None:
    nested = {k: v for k, v in table.items() if isinstance(v, Mapping) and prefix.count("[") == 0}
    lists = {k: v for k, v in table.items() if _is_tables(v)}
    for key, value in table.items():
        if key not in nested and key not in lists:
            lines.append(f"{_key(key)} = {_value(value)}")
    for key, value in nested.items():
        inner = f"{prefix}{_key(key)}"
        plain = any(not isinstance(v, Mapping) for v in value.values()) or not value
        if plain:
            lines.extend(["", f"[{inner}]"])
        _write_table(value, f"{inner}.", lines)
    for key, items in lists.items():
        for item in items:
            lines.extend(["", f"[[{prefix}{_key(key)}]]"])
            lines.extend(f"{_key(k)} = {_value(v)}" for k, v in item.items())


def _is_tables(value: Any) -> bool:
    return (
        isinstance(value, list | tuple)
        and bool(value)
        and all(isinstance(item, Mapping) for item in value)
    )


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else json.dumps(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{_key(k)} = {_value(v)}" for k, v in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    return json.dumps(str(value), ensure_ascii=False)


def shipped() -> dict[str, Scenario]:
    """The scenarios that ship, by name, in name order; a broken file is a loud error."""
    found = {}
    for path in sorted(FOLDER.glob("*.toml")):
        try:
            found[path.stem] = Scenario.read(path.read_text(encoding="utf-8"))
        except ScenarioError as error:
            raise ScenarioError(f"{path.name}: {error}") from None
        if found[path.stem].name != path.stem:
            raise ScenarioError(f"{path.name}: its name is {found[path.stem].name!r}.")
    return found


def load(name: str) -> Scenario:
    """A shipped scenario by name, or one from a ``.toml`` file (command line only).

    ``runs.saved.load`` also knows those that people saved.
    """
    from runs import catalogue

    scenarios = catalogue.scenarios()
    if name in scenarios:
        return scenarios[name]
    if name.endswith(".toml"):
        path = Path(name)
        if not path.is_file():
            raise ScenarioError(f"There is no file {name}.")
        return Scenario.read(path.read_text(encoding="utf-8"))
    raise ScenarioError(f"There is no scenario {name!r}. {nearest(name, scenarios)}")
