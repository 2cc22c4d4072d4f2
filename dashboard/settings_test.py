"""The settings of the test-suite: the real ones, with their state in a folder of its own.

Each of pytest's parallel processes has its own folder, below that of the process which started
it and removes them all: a test may say what its run left behind, whatever runs beside it.
"""

from __future__ import annotations

import atexit
import os
import shutil
import tempfile
from pathlib import Path

if "LIFELINE_TEST_VAR" not in os.environ:
    _folder = tempfile.mkdtemp(prefix="ll-test-")
    os.environ["LIFELINE_TEST_VAR"] = _folder
    atexit.register(shutil.rmtree, _folder, ignore_errors=True)
_worker = os.environ.get("PYTEST_XDIST_WORKER", "")
if _worker and Path(os.environ["LIFELINE_TEST_VAR"]).name != _worker:
    os.environ["LIFELINE_TEST_VAR"] = str(Path(os.environ["LIFELINE_TEST_VAR"]) / _worker)
os.environ["LIFELINE_VAR"] = os.environ["LIFELINE_TEST_VAR"]
os.environ["REDIS_URL"] = ""

# They read what is set above; a settings module hands on all of another.
from dashboard.settings import *  # noqa: E402, F403
from dashboard.settings import DATABASES, VAR  # noqa: E402

# A file and not memory: the live server, workers and threads of a test share it.
if DATABASES["default"]["ENGINE"].endswith("sqlite3"):
    DATABASES["default"]["TEST"] = {"NAME": str(VAR / "test.sqlite3")}
CHANNEL_LAYERS = {"default": {"BACKEND": "channels.layers.InMemoryChannelLayer"}}
