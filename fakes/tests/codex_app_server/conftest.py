"""A fresh installed fake for each test, taken away again with all its processes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fakes.codex_app_server.harness import Harness, install


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[Harness]:
    found = install(tmp_path)
    yield found
    found.cleanup()
