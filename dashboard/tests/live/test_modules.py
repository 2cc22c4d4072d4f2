"""The pure modules of the page, tested with node: the axis, the model, the words and filters."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from dashboard.tests.sayings import CASES
from runs.sayings import TABLE
from runs.tests import needs

HERE = Path(__file__).parent
STATIC = HERE.parent.parent / "static" / "dashboard"


@pytest.fixture
def modules(tmp_path: Path) -> Path:
    """The modules where node takes them for modules: a folder that says so."""
    folder = tmp_path / "modules"
    shutil.copytree(STATIC, folder)
    (folder / "package.json").write_text('{"type": "module"}')
    (folder / "words.json").write_text(json.dumps({"table": TABLE, "cases": CASES}))
    for test in HERE.glob("*.test.js"):
        shutil.copy(test, folder)
    return folder


@pytest.mark.parametrize("name", sorted(path.name for path in HERE.glob("*.test.js")))
def test_it_passes_in_node(modules: Path, name: str) -> None:
    done = subprocess.run(
        [needs.program("node"), "--test", name],
        cwd=modules,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 0" not in done.stdout


@pytest.mark.parametrize("path", sorted(STATIC.glob("*.js")), ids=lambda path: path.name)
def test_it_is_short_and_asks_nothing_of_a_strict_page(path: Path) -> None:
    text = path.read_text()
    assert len(text.splitlines()) < 300
    for word in ("innerHTML =", "insertAdjacentHTML", "eval(", "new Function", "document.write"):
        assert word not in text
