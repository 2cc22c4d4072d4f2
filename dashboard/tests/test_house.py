"""The house is as ARCHITECTURE.md draws it, and no file is longer than one reads at a time."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest
from django.conf import settings

MOST_LINES = 300
LISTED = re.compile(r"[\w/.+-]+\.(?:py|js|html|toml|md)\b")


def _files() -> list[Path]:
    """What git knows of the checkout."""
    try:
        listed = subprocess.run(
            ["git", "ls-files"], cwd=settings.BASE, capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a checkout")
    return [Path(name) for name in listed.stdout.splitlines()]


def test_no_file_is_longer_than_a_reader_takes() -> None:
    code = [path for path in _files() if path.suffix in {".py", ".js", ".html", ".css"}]
    lengths = {str(path): (settings.BASE / path).read_bytes().count(b"\n") for path in code}
    assert len(lengths) > 500
    assert {name: count for name, count in lengths.items() if count >= MOST_LINES} == {}


def test_each_file_on_the_map_is_there() -> None:
    known = [f"/{path}" for path in _files()]
    named = set(LISTED.findall((settings.BASE / "ARCHITECTURE.md").read_text(encoding="utf-8")))
    assert len(named) > 50
    gone = [name for name in named if not any(path.endswith(f"/{name}") for path in known)]
    assert gone == []
