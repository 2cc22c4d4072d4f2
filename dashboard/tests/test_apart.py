"""The suite never touches the state of the instance that stands in the same folder."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from django.conf import settings


def test_the_suite_keeps_its_state_in_a_folder_of_its_own() -> None:
    assert settings.SETTINGS_MODULE == "dashboard.settings_test"
    assert not Path(settings.VAR).is_relative_to(settings.BASE)


def test_processes_that_test_side_by_side_share_no_folder() -> None:
    ask = "from dashboard.settings_test import VAR; print(VAR)"
    kept = [sys.executable, "-c", ask]
    beside = {
        subprocess.run(
            kept,
            cwd=settings.BASE,
            env={**os.environ, "PYTEST_XDIST_WORKER": worker},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for worker in ("gw98", "gw99")
    }
    assert len(beside) == 2


def test_what_a_test_starts_has_the_folder_of_its_test() -> None:
    ask = "from dashboard.settings_test import VAR; print(VAR)"
    said = subprocess.run(
        [sys.executable, "-c", ask], cwd=settings.BASE, capture_output=True, text=True, check=True
    ).stdout
    assert said.strip() == str(settings.VAR)
