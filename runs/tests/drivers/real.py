"""Real binaries through the one command, in a state folder of their own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from runs.tests import needs

ROOT = Path(__file__).resolve().parents[3]
CANNOT_RUN_HERE = 3
PATIENCE = 1500
"""Seconds for a command: it may have to install an agent on a busy machine."""


class Commands:
    """Runs commands of ``manage.py`` on one state folder."""

    def __init__(self, var: Path) -> None:
        self.var = var
        self.environment = {
            **os.environ,
            "LIFELINE_VAR": str(var),
            "DATABASE_URL": "",
            "DJANGO_SETTINGS_MODULE": "dashboard.settings",
        }
        self._done: dict[tuple[str, ...], dict[str, Any]] = {}

    def document(self, *words: str, code: int = 0) -> dict[str, Any]:
        """What a command prints with ``--json``, each command once; skips where it cannot run.

        AssertionError with its last words when it ends with another code than `code`.
        """
        if words not in self._done:
            found: dict[str, Any] = json.loads(self._output([*words, "--json"], code))
            if "permalink" in found:
                found["sources"] = self.var / "runs" / found["permalink"] / "sources"
            self._done[words] = found
        return self._done[words]

    def _output(self, words: Sequence[str], code: int) -> bytes:
        ended = subprocess.run(
            [sys.executable, "manage.py", *words],
            cwd=ROOT,
            env=self.environment,
            capture_output=True,
            timeout=PATIENCE,
        )
        said = ended.stderr.decode(errors="replace")
        if ended.returncode == CANNOT_RUN_HERE:
            needs.lack((said.strip().splitlines() or ["it cannot run here"])[-1])
        assert ended.returncode == code, said[-3000:]
        return ended.stdout


def child(document: dict[str, Any]) -> dict[str, Any]:
    """The one sub-agent of a run."""
    (found,) = [agent for agent in document["agents"] if agent["caller"] == "child:1"]
    return dict(found)


def broken(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """The broken laws' last findings."""
    return {one["law"]: one for one in document["findings"] if one["verdict"] == "broken"}
