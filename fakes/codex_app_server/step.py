"""One step of a scripted turn: what a plug-in of ``steps/`` is, and how scripts are checked."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

from fakes.registry import members

if TYPE_CHECKING:
    from fakes.codex_app_server.turn import Turn

Options = Mapping[str, Any]


class ScenarioError(Exception):
    """The scenario is wrong; the text says where."""


@dataclass(frozen=True)
class Step:
    """A kind of step. The docstring of its `play` says what it does and what its keys mean."""

    play: Callable[[Turn, Options], None]
    needs: Mapping[str, type] = field(default_factory=dict)
    """Keys that a script must give, with their type."""
    may: Options = field(default_factory=dict)
    """Keys that a script may give, with what holds otherwise (None: any type)."""


@lru_cache(maxsize=1)
def kinds() -> dict[str, Step]:
    """All kinds of steps, by name."""
    from fakes.codex_app_server import steps  # the plug-ins import this module

    return members(steps, "STEP")


def options(step: Options) -> Options:
    """The step with what holds for the keys that it does not give."""
    return {**kinds()[str(step["kind"])].may, **step}


def checked(script: Any, place: str) -> None:
    """ScenarioError where `script` is no list of steps that can be played."""
    if not isinstance(script, list):
        raise ScenarioError(f"{place}: a list of steps is wanted")
    for number, step in enumerate(script):
        _checked(step, f"{place}[{number}]")


def _checked(step: Any, place: str) -> None:
    kind = step.get("kind") if isinstance(step, dict) else None
    if kind not in kinds():
        raise ScenarioError(f"{place}: no step {kind!r}; there are {', '.join(kinds())}")
    found = kinds()[kind]
    for key, value in step.items():
        wanted = found.needs.get(key) or found.may.get(key)
        if key not in found.may and key not in found.needs and key != "kind":
            known = ", ".join([*found.needs, *found.may]) or "none"
            raise ScenarioError(f"{place}.{key} is unknown to {kind}; known: {known}")
        if key == "steps":
            checked(value, f"{place}.steps")
        elif wanted is not None and not fits(value, wanted):
            raise ScenarioError(f"{place}.{key}: {value!r} is of the wrong type")
    for key in found.needs:
        if key not in step:
            raise ScenarioError(f"{place}: {kind} needs {key}")


def fits(value: Any, wanted: Any) -> bool:
    """Whether `value` is of the type `wanted`, or of that of the value `wanted`."""
    kind = wanted if isinstance(wanted, type) else type(wanted)
    if kind is float:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))
