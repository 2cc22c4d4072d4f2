"""A shelf of its own, a registry on loopback, an agent to install from it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from runs import catalogue, npm, pypi
from runs.tests import needs
from runs.tests.binaries.registry import Registry
from runs.tests.binaries.toy import PythonToy, Toy


@pytest.fixture
def shelf_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where this test's binaries lie."""
    monkeypatch.setenv("LIFELINE_BINARIES", str(tmp_path / "binaries"))
    monkeypatch.setenv("LIFELINE_VAR", str(tmp_path / "var"))
    monkeypatch.setenv("npm_config_registry", "http://127.0.0.1:9/")  # nobody listens there
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    npm._configuration.cache_clear()
    return tmp_path / "binaries"


@pytest.fixture
def toy(shelf_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Toy:
    """The only agents there are."""
    toy = Toy()
    toy.prepared.clear()
    known = {**catalogue.drivers(), "toy": toy, "pytoy": PythonToy()}
    monkeypatch.setattr(catalogue, "drivers", lambda: known)
    return toy


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Registry]:
    """The registry that this machine's npm is told to ask."""
    needs.program("npm")
    served = Registry()
    monkeypatch.setenv("npm_config_registry", served.url)
    monkeypatch.setenv("npm_config_fetch_retries", "0")
    for caches in (npm, pypi):
        caches._configuration.cache_clear()
    for version in ("1.0.9", "1.0.10", "1.1.0-2", "1.1.0"):
        served.publish("@lifeline/toy", version)
    yield served
    served.close()
    for caches in (npm, pypi):
        caches._configuration.cache_clear()
