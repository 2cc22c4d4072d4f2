"""The script of a state folder: what each turn plays. Docs: docs/fake-app-server.md.

Read anew at each turn, so that a test may change it between two runs of a client. A mistake
in it is loud: ScenarioError names the place.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from fakes.codex_app_server.step import ScenarioError, checked, fits

FILE = "scenario.json"
UNSCRIPTED: Mapping[str, Any] = {"steps": [{"kind": "message", "text": "(unscripted)"}]}
TURN_KEYS = frozenset({"steps", "before", "after", "ack", "ends", "buffered", "start_error"})
ACKS = ("sent", "late", "lost")
Steps = Sequence[Mapping[str, Any]]


@dataclass(frozen=True)
class Plan:
    """One scripted turn.

    `before` is played before ``turn/started``, `after` once ``turn/completed`` was sent (beside
    what comes next); `ack` says whether and when ``turn/start`` is answered; a turn that does
    not end stays in progress. `buffered`: its end and the start of the turn that comes `after`
    are written at once, so that who reads the end has the other behind it already.
    """

    steps: Steps = ()
    before: Steps = ()
    after: Steps = ()
    ack: str = "sent"
    ends: bool = True
    buffered: bool = False
    start_error: str = ""


@dataclass(frozen=True)
class Scenario:
    """All scripted turns and what holds for all of them."""

    turns: Sequence[Plan] = ()
    forget_threads: bool = False
    agents: str = "v2"
    """Which of the two multi-agent systems of Codex plays: v1 or v2."""
    strict: bool = False
    """Answer mismatches of steer and interrupt and malformed ids as the real server does."""
    patience: float = 60.0
    """Seconds for a client to answer a request of ours."""
    answers: Mapping[str, Any] = field(default_factory=dict)
    """Scripted results of methods that the fake does not play, by method."""

    def plan(self, number: int) -> Plan:
        """The turn at that place of the script; one message past its end."""
        return self.turns[number] if number < len(self.turns) else Plan(**UNSCRIPTED)


def load(folder: Path) -> Scenario:
    """The scenario of a state folder, an empty one where there is none; ScenarioError."""
    try:
        return parse(json.loads((folder / FILE).read_text()))
    except FileNotFoundError:
        return Scenario()
    except ValueError as wrong:
        raise ScenarioError(f"{FILE} is no JSON: {wrong}") from wrong


def parse(data: Any) -> Scenario:
    """A scenario from its JSON; ScenarioError."""
    known = set(Scenario.__dataclass_fields__)
    _object(data, "scenario", known)
    for key, value in data.items():
        wanted = type(getattr(Scenario, key, {}))  # a mapping is made anew for each scenario
        if key != "turns" and not fits(value, wanted):
            raise ScenarioError(f"{key}: {value!r} is of the wrong type")
    turns = data.get("turns", [])
    if not isinstance(turns, list):
        raise ScenarioError("turns: a list is wanted")
    if data.get("agents", "v2") not in ("v1", "v2"):
        raise ScenarioError("agents: v1 or v2 is wanted")
    plans = [plan(turn, f"turns[{number}]") for number, turn in enumerate(turns)]
    return Scenario(**{**data, "turns": plans})


def plan(data: Any, place: str) -> Plan:
    """One turn from its JSON; ScenarioError names `place`."""
    _object(data, place, TURN_KEYS)
    if data.get("ack", "sent") not in ACKS:
        raise ScenarioError(f"{place}.ack: one of {', '.join(ACKS)} is wanted")
    for key in ("steps", "before", "after"):
        checked(data.get(key, []), f"{place}.{key}")
    if data.get("buffered") and [step["kind"] for step in data.get("after", [])][:1] != ["turn"]:
        raise ScenarioError(f"{place}.buffered: `after` has to begin with a turn")
    return Plan(**{**data, "start_error": str(data.get("start_error") or "")})


def _object(data: Any, place: str, known: Any) -> None:
    if not isinstance(data, dict):
        raise ScenarioError(f"{place}: an object is wanted")
    for key in data:
        if key not in known:
            raise ScenarioError(f"{place}.{key} is unknown; known: {', '.join(sorted(known))}")


__all__ = ["Plan", "Scenario", "ScenarioError", "load", "parse", "plan"]
