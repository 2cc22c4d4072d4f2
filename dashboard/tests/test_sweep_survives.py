"""A sweep of sixty runs through SIGKILLs: complete in the end, nothing twice, nothing missing."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from dashboard.tests.instance import BASE, PARTS, Up, all_gone, environment

pytestmark = pytest.mark.slow
SCRIPT = """
import django; django.setup()
from runs import sweeps
sweep = sweeps.create([("reference", v) for v in ("1.0.0", "1.0.1", "1.1.0")], ["success"],
                      repeat=20)
print(sweep.permalink)
"""
STATE = """
import json, django; django.setup()
from runs.models import Sweep
sweep = Sweep.objects.get()
rows = list(sweep.runs.values("agent", "version", "scenario", "status", "permalink"))
starts = {{r.permalink: r.events.filter(kind="process.started").count() for r in sweep.runs.all()}}
print(json.dumps([sweep.state, rows, starts]))
""".replace("{{", "{").replace("}}", "}")


def django(env: dict[str, str], script: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", script],
        cwd=BASE,
        env={**env, "DJANGO_SETTINGS_MODULE": "dashboard.settings"},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout.strip()


def state(env: dict[str, str]) -> tuple[str, list[dict[str, Any]], dict[str, int]]:
    import json

    found = json.loads(django(env, STATE))
    return found[0], found[1], found[2]


def test_a_sweep_survives_every_kill(tmp_path: Path) -> None:
    var = tmp_path / "var"
    env = environment(var) | {"LIFELINE_CONCURRENCY": "2"}
    up = Up(var, env=env)
    up.wait_for("Lifeline is at")
    django(env, SCRIPT)
    kills = ["runs", *sorted(PARTS & {"redis", "web"}), "up"]
    until = time.monotonic() + 400
    while True:
        word, rows, starts = state(env)
        ended = sum(row["status"] == "ended" for row in rows)
        if kills and ended >= 60 * (5 - len(kills)) // 6:
            name = kills.pop(0)
            if name == "up":
                os.kill(up.process.pid, signal.SIGKILL)
                assert all_gone(var)
                up = Up(var, env=env)
                up.wait_for("Lifeline is at")
            else:
                up.parts[name].kill()
        if word == "ended":
            break
        assert time.monotonic() < until, Counter(row["status"] for row in rows)
        time.sleep(1)
    counts = Counter(row["version"] for row in rows if row["status"] == "ended")
    assert counts == {"1.0.0": 20, "1.0.1": 20, "1.1.0": 20}
    assert {row["status"] for row in rows} <= {"ended", "lost"}
    assert all(times <= 1 for times in starts.values()), "a run was started twice"
    up.stop()
    assert all_gone(var)
