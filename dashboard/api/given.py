"""A scenario that arrives as text: shown whole first, and run only with the mark of what was shown.

The page's rule (an import is read before it runs) for programs: the answer without a mark
holds the text as it would run; the mark is that text's digest, so a confirmation is good for
what was shown and for nothing else. A text is never saved and takes no name that ships.
"""

from __future__ import annotations

import hashlib
import hmac
import json
from collections.abc import Mapping
from typing import Any

from dashboard import sketch
from runs import catalogue
from runs.checking import check
from runs.scenario import Scenario, ScenarioError


class Unconfirmed(Exception):
    """The text has not been confirmed; `shown` is the answer that shows it."""

    def __init__(self, shown: dict[str, Any]) -> None:
        super().__init__("unconfirmed")
        self.shown = shown


def confirmed(text: str, sets: Mapping[str, Any], mark: str) -> Scenario:
    """The scenario of this text with `sets` applied.

    ScenarioError names all that is wrong; Unconfirmed when `mark` is not that of this scenario.
    """
    scenario = _read(text, sets)
    expected = _mark(scenario)
    if not hmac.compare_digest(mark.encode(), expected.encode()):
        raise Unconfirmed(_shown(scenario, expected, given=bool(mark)))
    return scenario


def _read(text: str, sets: Mapping[str, Any]) -> Scenario:
    checked = check(text)
    if checked.scenario is None:
        raise ScenarioError("; ".join(map(_said, checked.problems)))
    scenario, _ = checked.scenario.with_sets(sets)
    shipped = catalogue.scenarios().get(scenario.name)
    if shipped is not None and shipped.as_dict() != checked.scenario.as_dict():
        raise ScenarioError(f"name {scenario.name!r} ships with Lifeline. Choose another.")
    return scenario


def _said(problem: Any) -> str:
    place = " ".join(filter(None, [f"line {problem.line}" if problem.line else "", problem.key]))
    return f"{place}: {problem.says}" if place else str(problem.says)


def _mark(scenario: Scenario) -> str:
    whole = json.dumps(scenario.as_dict(), sort_keys=True)
    return hashlib.sha256(whole.encode()).hexdigest()


def _shown(scenario: Scenario, mark: str, *, given: bool) -> dict[str, Any]:
    what = "`confirm` belongs to another text." if given else "This scenario is not confirmed yet."
    return {
        "error": {"what": what, "do": "Read `toml`, then send the request with this `confirm`."},
        "toml": scenario.toml(),
        "script": catalogue.scripts()[scenario.script].sentence,
        "faults": [f"{one['title']}: {one['where']}" for one in sketch.sentences(scenario)],
        "confirm": mark,
    }
