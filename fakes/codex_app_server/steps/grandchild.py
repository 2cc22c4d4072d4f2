"""The server leaves a process behind."""

from __future__ import annotations

import subprocess
import sys

from fakes.codex_app_server.step import Options, Step
from fakes.codex_app_server.turn import Turn

RELEASE = "release-grandchildren"
"""A file of the state folder: grandchildren end when it appears."""
WAIT = """
import os, sys, time
end = time.monotonic() + float(sys.argv[2])
while time.monotonic() < end and not os.path.exists(sys.argv[1]):
    time.sleep(0.05)
"""


def play(turn: Turn, step: Options) -> None:
    """A process in a session of its own that outlives the server. It ends when the state
    folder has a ``release-grandchildren`` file, at the latest after `seconds`: nobody need
    signal a process whose number may long be another's."""
    world = turn.world
    release = str(world.folder / RELEASE)
    child = subprocess.Popen(
        [sys.executable, "-c", WAIT, release, str(step["seconds"])],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    world.transcript.event("grandchild", child_pid=child.pid)


STEP = Step(play, may={"seconds": 600.0})
