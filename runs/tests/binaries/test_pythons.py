"""Which Python a package is installed with."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from runs import pythons
from runs.errors import VersionCannotRun


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A machine that has no other Python than a test puts there."""
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(sys, "base_prefix", str(tmp_path / "versions" / "ours"))
    pythons.fitting.cache_clear()
    yield
    pythons.fitting.cache_clear()


def put(path: Path, *, runs: bool = True) -> Path:
    """A program with that path; one that does not run is a stand-in that points nowhere."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\nexit 0\n" if runs else "#!/bin/sh\nexit 127\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("lowest", ["", "3.0", "3.11"])
def test_it_takes_ours_where_that_is_new_enough(lowest: str) -> None:
    assert pythons.fitting(lowest) == sys.executable


def test_it_takes_the_oldest_that_fits_on_the_path_or_beside_ours(tmp_path: Path) -> None:
    put(tmp_path / "path" / "python3.19")
    beside = put(tmp_path / "versions" / "3.18.2" / "bin" / "python3.18")
    put(tmp_path / "versions" / "3.17.1" / "bin" / "python3.17")
    assert pythons.fitting("3.18") == str(beside)


def test_it_passes_over_one_that_does_not_run(tmp_path: Path) -> None:
    put(tmp_path / "path" / "python3.18", runs=False)
    beside = put(tmp_path / "versions" / "3.18.2" / "bin" / "python3.18")
    assert pythons.fitting("3.18") == str(beside)


def test_it_says_what_is_missing() -> None:
    with pytest.raises(VersionCannotRun, match=r"Python 3\.18 or newer"):
        pythons.fitting("3.18")
