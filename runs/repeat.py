"""The command line that repeats a run."""

from __future__ import annotations

import json
import shlex
from typing import Any

from runs import catalogue
from runs.models import Run


def command(run: Run) -> str:
    """As typed into a shell; "" for an import, which was not run here."""
    if run.kind == Run.Kind.IMPORT or not run.scenario:
        return ""
    parts = ["python3", "manage.py", "reproduce", f"{run.agent}@{run.version}", run.scenario]
    for key, value in sorted(_changed_options(run).items()):
        text = value if isinstance(value, str) else json.dumps(value)
        parts += ["--set", f"agents.{run.agent}.{key}={text}"]
    if run.expect:
        parts += ["--expect", run.expect]
    return " ".join(shlex.quote(part) for part in parts)


def _changed_options(run: Run) -> dict[str, Any]:
    driver = catalogue.drivers().get(run.agent)
    defaults = {option.key: option.default for option in driver.options} if driver else {}
    return {
        key: value
        for key, value in run.options.items()
        if key not in defaults or defaults[key] != value
    }
