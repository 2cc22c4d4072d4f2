"""The README's picture of a run, taken by the command that it names: a real run, a real page.

``LIFELINE_PORTRAY=1 python3 manage.py test -- dashboard/tests/live/test_portrait.py`` takes it
anew into `docs/images` (installing the Copilot CLI if it is not there). Else the picture is of
the reference agent, goes to a folder of the test, and is looked at.
"""

from __future__ import annotations

import os
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

from dashboard.tests.instance import BASE, environment

README = BASE / "docs" / "images" / "run.png"
ANEW = os.environ.get("LIFELINE_PORTRAY") == "1"


@pytest.mark.browser
@pytest.mark.slow
def test_the_picture_of_the_readme_is_of_a_run(tmp_path: Path) -> None:
    agent, file = ("copilot@1.0.81", README) if ANEW else ("reference@1.0.0", tmp_path / "run.png")
    done = subprocess.run(
        [sys.executable, "manage.py", "portray", agent, "sse-cut", str(file)],
        cwd=BASE,
        env=environment(tmp_path / "var"),
        stdout=subprocess.PIPE,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0
    assert agent.replace("@", " ") in done.stdout and "sse-cut" in done.stdout
    width, height, different = look_at(file)
    assert (width, height) == (1280, 1500) and different > 50


def test_the_readme_shows_such_a_picture() -> None:
    assert "](docs/images/run.png)" in (BASE / "README.md").read_text()
    width, height, different = look_at(README)
    assert (width, height) == (1280, 1500) and different > 50


def look_at(file: Path) -> tuple[int, int, int]:
    """Width, height, and how many rows differ: a measure of how much there is to see."""
    data = file.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    at, packed = 8, b""
    width = height = 0
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        part = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height = struct.unpack(">II", part[:8])
        elif kind == b"IDAT":
            packed += part
        at += length + 12
    rows = zlib.decompress(packed)
    size = len(rows) // height
    return width, height, len({rows[n * size : (n + 1) * size] for n in range(height)})
