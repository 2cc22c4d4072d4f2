"""How a run is repeated: the command line, and what a script of its own is made of.

An import was not run here: what repeats it is the run that it proposes.
"""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, replace
from typing import Any

from runs import catalogue, proposal
from runs.models import Run


@dataclass(frozen=True, slots=True)
class Repeat:
    """One run that can be started. `proposed`: it is the nearest scenario, not the same run."""

    agent: str
    version: str
    scenario: dict[str, Any]
    options: dict[str, Any]
    expect: str = ""
    proposed: bool = False


def of(run: Run) -> Repeat | None:
    """What repeats a run; None where nothing does."""
    if run.kind == Run.Kind.IMPORT and not run.snapshot.get("name"):
        found = proposal.propose(run)
        if found is None:
            return None
        chosen, given = found.scenario.with_sets({})
        options = catalogue.driver(found.agent).read_options(given.get(found.agent, {}))
        return Repeat(found.agent, found.version, chosen.as_dict(), options, proposed=True)
    if not run.scenario or run.agent not in catalogue.drivers():
        return None
    return Repeat(run.agent, run.version, run.snapshot, run.options, run.expect)


def told(run: Run, about: dict[str, Any], scenario: dict[str, Any]) -> Repeat | None:
    """The same in the redacted words of its row and scenario.

    But for its version a proposal consists of ours alone.
    """
    found = of(run)
    if found is None or found.proposed:
        return found and replace(found, version=about["version"])
    return Repeat(about["agent"], about["version"], scenario, about["options"])


def command(run: Run) -> str:
    """As typed into a shell; "" where nothing repeats it."""
    found = of(run)
    if found is None:
        return ""
    what = f"{found.agent}@{found.version}" if found.version else found.agent
    parts = ["python3", "manage.py", "reproduce", what, str(found.scenario.get("name") or "")]
    defaults = _defaults(found.agent)
    for key, value in sorted(found.options.items()):
        if key not in defaults or defaults[key] != value:
            text = value if isinstance(value, str) else json.dumps(value)
            parts += ["--set", f"agents.{found.agent}.{key}={text}"]
    if found.expect:
        parts += ["--expect", found.expect]
    return " ".join(shlex.quote(part) for part in parts)


def _defaults(agent: str) -> dict[str, Any]:
    driver = catalogue.drivers().get(agent)
    return {option.key: option.default for option in driver.options} if driver else {}
