"""Everything that is wrong with a scenario's text at once: which key, why, the nearest known one.

``Scenario.read`` stops at the first error, which is right for a run; whoever writes one
wants to see them all, with the line.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass
from typing import Any

from runs import catalogue, locating
from runs.errors import HarnessError
from runs.scenario import Scenario, ScenarioError, nearest

LIMIT = 64 * 1024
"""Characters of a scenario's text."""
LAYERS = 20
"""How deep tables and lists may lie in each other."""
MEANT = re.compile(r"[Dd]id you mean '([^']+)'")
QUOTED = re.compile(r"'([^']+)'")
PLACE = re.compile(r"\(at (?:line (\d+)|end of document)")


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong. `key` is dotted, `line` counts from 1; 0: no line can be named."""

    key: str
    says: str
    word: str = ""
    """The word that is not known."""
    nearest: str = ""
    """The known word that was probably meant."""
    line: int = 0

    def as_dict(self) -> dict[str, Any]:
        """As JSON."""
        return asdict(self)


@dataclass(frozen=True, slots=True)
class Checked:
    """What came of a text. `tree` is the TOML as data, None where it is no TOML."""

    text: str
    tree: dict[str, Any] | None
    scenario: Scenario | None
    problems: tuple[Problem, ...] = ()


def check(text: str) -> Checked:
    """Look at the whole text. `scenario` is there exactly when there is no problem."""
    text = text.replace("\r\n", "\n")
    if len(text) > LIMIT:
        return Checked(text, None, None, (Problem("", f"This is longer than {LIMIT} characters."),))
    try:
        tree = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        return Checked(text, None, None, (_not_toml(text, error),))
    except RecursionError:
        return Checked(text, None, None, (Problem("", "This is nested too deeply."),))
    if not is_flat(tree, LAYERS):
        return Checked(text, None, None, (Problem("", "This is nested too deeply."),))
    problems = tuple(_placed(text, problem) for problem in _problems(tree))
    if problems:
        return Checked(text, tree, None, problems)
    try:
        return Checked(text, tree, Scenario.read(tree))
    except ScenarioError as error:
        return Checked(text, tree, None, (_placed(text, _problem("", error)),))


def _not_toml(text: str, error: tomllib.TOMLDecodeError) -> Problem:
    found = PLACE.search(str(error))
    last = max(1, text.count("\n") + (not text.endswith("\n")))
    line = int(found[1]) if found and found[1] else last
    return Problem("", f"This is not TOML: {PLACE.split(str(error))[0].strip()}.", line=line)


def is_flat(value: Any, left: int) -> bool:
    """Whether tables and lists lie in each other less than `left` deep."""
    if left == 0:
        return False
    inner = value.values() if isinstance(value, Mapping) else value
    return not isinstance(value, Mapping | list) or all(is_flat(each, left - 1) for each in inner)


def _problems(tree: dict[str, Any]) -> Iterator[Problem]:
    """All problems, part by part, in the order of the keys."""
    whole = Scenario.__dataclass_fields__
    for key in tree:
        if key not in whole:
            yield from _caught(key, _refuse, key, list(whole))
    yield from _own_keys(tree)
    for key in ("guards", "thresholds"):
        if isinstance(tree.get(key, {}), Mapping):
            for name, value in tree.get(key, {}).items():
                yield from _caught(f"{key}.{name}", _read, {key: {name: value}})
        else:
            yield Problem(key, f"{key} is a table.")
    yield from _script(tree)
    faults = tree.get("faults", [])
    for number, fault in enumerate(faults if isinstance(faults, list) else []):
        yield from _caught(f"faults.{number}", _read, {"faults": [fault]})
    yield from _laws(tree)
    yield from _agents(tree)


def _own_keys(tree: dict[str, Any]) -> Iterator[Problem]:
    for key in ("name", "question", "script"):
        if not isinstance(tree.get(key), str) or not tree[key].strip():
            yield Problem(key, f"The scenario needs {key!r}, a text.")
        elif key == "name":
            yield from _caught(key, _read, {"name": tree["name"]})
    if not isinstance(tree.get("title", ""), str):
        yield Problem("title", "title is a text.")
    if not isinstance(tree.get("control", False), bool):
        yield Problem("control", "control is true or false.")
    for key in ("faults", "laws", "families", "reports"):
        if not isinstance(tree.get(key, []), list):
            yield Problem(key, f"{key} is a list.")
    if not isinstance(tree.get("settings", {}), Mapping):
        yield Problem("settings", "settings is a table.")


def _script(tree: dict[str, Any]) -> Iterator[Problem]:
    name, settings = tree.get("script"), tree.get("settings", {})
    if not isinstance(name, str) or not name.strip() or not isinstance(settings, Mapping):
        return
    if name not in catalogue.scripts():
        yield from _caught("script", _read, {"script": name})
        return
    before = set[str]()
    for key, value in settings.items():
        for problem in _caught(
            f"settings.{key}", _read, {"script": name, "settings": {key: value}}
        ):
            before.add(problem.key)
            yield problem
    if not before:
        yield from _caught("settings", _read, {"script": name, "settings": dict(settings)})


def _laws(tree: dict[str, Any]) -> Iterator[Problem]:
    laws = tree.get("laws", [])
    for law in laws if isinstance(laws, list) else []:
        if str(law) not in catalogue.laws():
            yield from _caught("laws", _unknown_law, str(law))


def _agents(tree: dict[str, Any]) -> Iterator[Problem]:
    agents = tree.get("agents", {})
    if not isinstance(agents, Mapping):
        yield Problem("agents", "agents is a table.")
        return
    for name, options in agents.items():
        known = catalogue.drivers()
        if name not in known:
            yield from _caught(f"agents.{name}", _refuse, name, list(known))
        elif not isinstance(options, Mapping):
            yield Problem(f"agents.{name}", f"agents.{name} is a table.")
        else:
            yield from _options(name, options)


def _options(agent: str, options: Mapping[str, Any]) -> Iterator[Problem]:
    driver = catalogue.drivers()[agent]
    known = [option.key for option in driver.options]
    for key, value in options.items():
        if key not in known:
            yield from _caught(f"agents.{agent}.{key}", _refuse, key, known)
        else:
            yield from _caught(f"agents.{agent}.{key}", driver.read_options, {key: value})


def _read(part: dict[str, Any]) -> None:
    """Read a scenario that is whole but for this part."""
    Scenario.read({"name": "x", "question": "x", "script": "delegate-one", **part})


def _refuse(key: str, known: list[str]) -> None:
    raise ScenarioError(f"{key!r} is not known here. {nearest(key, known)}")


def _unknown_law(law: str) -> None:
    raise ScenarioError(f"There is no law {law!r}. {nearest(law, catalogue.laws())}")


def _caught(key: str, what: Callable[..., object], *given: Any) -> Iterator[Problem]:
    try:
        what(*given)
    except (ValueError, TypeError, HarnessError) as error:  # ScenarioError is a ValueError
        yield _problem(key, error)


def _problem(key: str, error: Exception) -> Problem:
    """The error with the key and the word that was meant taken out of its words."""
    says = re.sub(r"^(faults\.\d+|script): ", "", str(error))
    meant = MEANT.search(says)
    word = ""
    if meant:
        named = [each for each in QUOTED.findall(says[: meant.start()]) if each != meant[1]]
        word = named[-1] if named else ""
    if key.startswith("faults."):
        key = _key_in_fault(key, says, word)
    return Problem(key, says, word, meant[1] if meant else "")


def _key_in_fault(key: str, says: str, word: str) -> str:
    """``faults.0`` with the key that the sentence is about, if it names one."""
    thing, _, rest = says.partition(": ")
    on = "on." if thing == "on" or says.startswith("on has") else ""
    if "has no setting" in says:
        return f"{key}.{on}{word}" if word else key
    if says.startswith("There is no fault"):
        return f"{key}.fault"
    first = rest.split(" ", 1)[0].strip(":") if rest else ""
    return f"{key}.{on}{first}" if re.fullmatch(r"[a-z_]+", first) else key


def _placed(text: str, problem: Problem) -> Problem:
    return Problem(
        problem.key,
        problem.says,
        problem.word,
        problem.nearest,
        problem.line or locating.line_of(text, problem.key),
    )
