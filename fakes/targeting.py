"""Who asks, and which of their requests a fault hits.

A caller is told by the request itself, never by the order of calls: by the
driver's rule (a header that the agent sends) or, where that says nothing, by
markers in the prompts. Callers are labelled ``parent``, ``child:1``,
``grandchild:1`` or ``utility``, numbered by first appearance.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fakes.dialect import ModelRequest
from fakes.settings import build, nearest, setting, stored

if TYPE_CHECKING:
    from fakes.fault import Fault

ROOT_MARKER = "LIFELINE-ROOT"
TASK_PATTERN = re.compile(r"LIFELINE-TASK-(\d{1,4}(?:\.\d{1,4}){0,15})")
KNOWN_CALLERS = ("parent", "child", "grandchild", "utility", "any-agent")
ATTEMPTS = re.compile(r"(\d{1,6})(?:-(\d{1,6})?)?$")


@dataclass(frozen=True, slots=True)
class Identity:
    """One agent instance. `depth`: 0 parent, 1 child, 2 and more grandchild, -1 utility.

    `since`: the turn with which its own conversation begins, where it inherits another's;
    `task`: the path of its task, where the driver knows it better than the markers tell.
    """

    depth: int
    key: str
    parent: str = ""
    since: int = 0
    task: str = ""


CallerRule = Callable[[ModelRequest], Identity | None]
"""Tells who asks; None: fall back to the markers."""

UTILITY = Identity(-1, "utility")
ROOT = Identity(0, "root")


def task_marker(path: str) -> str:
    """The marker of a task, as ``LIFELINE-TASK-1.2``; the depth is the number of parts."""
    return f"LIFELINE-TASK-{path}"


def task_path(request: ModelRequest) -> str:
    """The path of the task that this request works on; empty when it has no marker."""
    for text in _prompts(request):
        found = TASK_PATTERN.search(text)
        if found:
            return found.group(1)
    return ""


def by_markers(request: ModelRequest) -> Identity:
    """Who asks, by the markers in user, system and developer turns.

    ROOT wins over TASK; ROOT without any tool is a utility call (titles), and so is neither. So
    is a TASK that is only spoken of: without any tool, and not what a prompt begins with.
    """
    if any(ROOT_MARKER in text for text in _prompts(request)):
        return ROOT if request.tools else UTILITY
    path = task_path(request)
    begins = any(text.lstrip().startswith(task_marker(path)) for text in _prompts(request))
    if not path or not (request.tools or begins):
        return UTILITY
    above, _, _ = path.rpartition(".")
    return Identity(path.count(".") + 1, path, above or ROOT.key)


def _prompts(request: ModelRequest) -> list[str]:
    return [turn.text for turn in request.turns if turn.role in ("user", "system", "developer")]


@dataclass(frozen=True, slots=True)
class Target:
    """Which requests a fault hits; the ``on`` table of a scenario. Made by :meth:`parse`."""

    caller: str = setting(
        "child",
        "Who must ask: parent, child, child:2, grandchild, grandchild:1, utility or any-agent.",
    )
    attempt: str = setting(
        "all", "Which attempts of a call are hit: a number, a range such as 1-3 or 2-, or all."
    )
    turn: int = setting(0, "Which call of that caller is hit, from 1; 0: every call.", low=0)
    form: str = setting("any", "Which form of answer is hit.", choices=("any", "stream", "plain"))
    share: float = setting(1.0, "Which share of these requests is hit.", low=0.0, high=1.0)
    seed: int = setting(0, "Chooses which ones; the same seed chooses the same ones.", low=0)

    @classmethod
    def parse(cls, values: Mapping[str, Any]) -> Target:
        """The target; ValueError names the key, and the nearest known one for an unknown key."""
        given = dict(values)
        if type(given.get("attempt")) is int:
            given["attempt"] = str(given["attempt"])
        if given.get("turn", 0) is None:
            del given["turn"]
        target = build(cls, given, "on")
        _check_caller(target.caller)
        _check_attempt(target.attempt)
        return target

    def as_dict(self) -> dict[str, Any]:
        """As TOML keys, without those that only say the default."""
        standard = stored(Target())
        own = {key: value for key, value in stored(self).items() if value != standard[key]}
        if self.attempt.isdigit():
            own["attempt"] = int(self.attempt)
        return {"caller": self.caller, **own}

    def hits(self, caller: str, call: int, attempt: int, stream: bool) -> bool:
        """Whether this request is hit; depends on nothing but these and the seed."""
        return (
            _matches(self.caller, caller)
            and (self.turn in (0, call))
            and self.form in ("any", "stream" if stream else "plain")
            and _within(self.attempt, attempt)
            and self._drawn(caller, call, attempt)
        )

    def _drawn(self, caller: str, call: int, attempt: int) -> bool:
        if self.share >= 1.0:
            return True
        seen = hashlib.sha256(f"{self.seed}/{caller}/{call}/{attempt}".encode()).digest()
        return int.from_bytes(seen[:8]) / 2**64 < self.share


@dataclass(frozen=True, slots=True)
class AimedFault:
    """What is broken, and where."""

    fault: Fault
    target: Target


def _matches(wanted: str, caller: str) -> bool:
    if wanted == "any-agent":
        return caller.partition(":")[0] != "utility"
    return caller == wanted or caller.partition(":")[0] == wanted


def _within(spec: str, attempt: int) -> bool:
    first, last = _bounds(spec)
    return first <= attempt <= last


def _bounds(spec: str) -> tuple[int, float]:
    if spec == "all":
        return 1, float("inf")
    low, dash, high = spec.partition("-")
    if not dash:
        return int(low), int(low)
    return int(low), int(high) if high else float("inf")


def _check_caller(caller: str) -> None:
    kind, colon, number = caller.partition(":")
    if kind not in KNOWN_CALLERS:
        raise ValueError(f"on: caller {caller!r} is unknown{nearest(kind, KNOWN_CALLERS)}")
    if not colon:
        return
    if kind not in ("child", "grandchild") or not number.isdecimal() or int(number) < 1:
        raise ValueError(f"on: caller {caller!r}: only child and grandchild have a number, from 1")


def _check_attempt(spec: str) -> None:
    if spec == "all":
        return
    if not ATTEMPTS.match(spec):
        raise ValueError(f"on: attempt is a number, a range such as 1-3, or all, not {spec!r}")
    first, last = _bounds(spec)
    if first < 1 or last < first:
        raise ValueError(f"on: attempt {spec!r} holds no attempt (they count from 1)")
