"""``manage.py test`` runs what failed once more, alone, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from django.conf import settings

from dashboard.management.commands.test import Command

BUSY = """
from pathlib import Path
import pytest

@pytest.fixture(scope="module")
def made():
    with Path({log!r}).open("a") as log:
        log.write("made ")
    return Path({log!r}).read_text().count("made")

def test_that_holds():
    pass

def test_that_needs_a_quiet_machine(made):
    assert made == 2
"""
BROKEN = "def test_that_is_broken():\n    assert False\n"


def _suite(folder: Path) -> bool:
    return Command()._suite("tiny", "not slow", str(folder))


@pytest.fixture(autouse=True)
def _at_the_top(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(settings.BASE)


def test_what_failed_is_run_again_with_all_that_it_needs(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    log = tmp_path / "log"
    (tmp_path / "test_busy.py").write_text(BUSY.format(log=str(log)))
    assert _suite(tmp_path)
    assert log.read_text() == "made made "
    first, second = capfd.readouterr().out.split("what failed, alone")
    assert "1 failed, 1 passed" in first
    assert "PASSED" in second and "test_that_needs_a_quiet_machine" in second
    assert "1 passed" in second and "test_that_holds" not in second


@pytest.mark.parametrize("code", [BROKEN, "import no_such_module"])
def test_what_fails_twice_fails(tmp_path: Path, code: str) -> None:
    (tmp_path / "test_broken.py").write_text(code)
    assert not _suite(tmp_path)
