"""The standalone script: only Python, and it really reproduces."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import fakes.reference_agent
from runs import catalogue
from runs.standalone import script_of

AGENT = Path(str(fakes.reference_agent.__file__)).with_name("__main__.py")


def _played(tmp_path: Path, scenario: str) -> str:
    run = {"agent": "reference", "version": "1.0.0", "options": {"delay": 0.01}}
    path = tmp_path / "repro.py"
    path.write_text(script_of(run, catalogue.scenarios()[scenario].as_dict()))
    assert "import runs" not in path.read_text() and "import fakes" not in path.read_text()
    done = subprocess.run(
        [sys.executable, "-I", "-S", str(path), str(AGENT)],
        capture_output=True, text=True, timeout=120, cwd=tmp_path, check=True,
    )  # fmt: skip
    assert '"type":"session.ended"' in done.stdout
    return done.stderr


def test_the_child_is_cut_at_every_attempt_and_the_parent_never(tmp_path: Path) -> None:
    said = _played(tmp_path, "sse-cut")
    assert re.search(r"^ +1: 5 requests, 5 broken, gaps [\d.]+(, [\d.]+){3}$", said, re.M), said
    assert re.search(r"^ +parent: [23] requests, 0 broken", said, re.M)
    assert "exit code 0" in said


def test_a_fault_of_the_first_attempt_alone_is_got_over(tmp_path: Path) -> None:
    said = _played(tmp_path, "cut-once")
    assert re.search(r"^ +1: 2 requests, 1 broken", said, re.M), said
