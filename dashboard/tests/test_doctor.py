"""`doctor` finds what is there, says what is missing and what to do about it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from dashboard import doctor
from dashboard.doctor import Finding
from runs.guards import Memory
from runs.seal import Seal

pytestmark = pytest.mark.django_db


def finding(name: str) -> Finding:
    """The answer of one check alone."""
    checks = {"Node": doctor._node, "npm": doctor._npm, "Chromium": doctor._browser}
    checks |= {"Sealing": doctor._sealing, "Memory": doctor._memory}
    return checks[name]()


def test_it_says_one_json_document_and_whether_nothing_is_missing(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("doctor", "--json")
    told = json.loads(capsys.readouterr().out)
    assert told["able"] == (ended.value.code == 0)
    assert {check["name"] for check in told["checks"]} >= {"Sealing", "Node", "npm", "Memory"}
    assert all(check["do"] or check["state"] == "ok" for check in told["checks"])


def test_it_says_what_to_do_without_node_and_chromium(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.which", lambda name, **_: None)
    for name in ("Node", "npm", "Chromium"):
        found = finding(name)
        assert found.state == "less"
        assert "not found" in found.says
        assert found.do


def test_it_says_when_a_program_is_there_and_does_not_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = tmp_path / "node"
    broken.write_text("#!/bin/sh\necho it is damaged >&2; exit 1\n")
    broken.chmod(0o755)
    monkeypatch.setattr("shutil.which", lambda name, **_: str(broken))
    assert "it is damaged" in finding("Node").says


def test_it_says_why_runs_are_not_sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    weak = Seal(False, False, False, "minder", "not sealed: network (no namespaces)")
    monkeypatch.setattr("runs.seal.best_seal", lambda: weak)
    found = finding("Sealing")
    assert found.state == "less"
    assert "no namespaces" in found.says
    assert "LIFELINE_ALLOW_UNSEALED" in found.do


@pytest.mark.parametrize(("free", "state"), [(100, "missing"), (2000, "less"), (100_000, "ok")])
def test_it_counts_the_runs_that_memory_has_room_for(
    free: float, state: str, monkeypatch: pytest.MonkeyPatch, settings: object
) -> None:
    settings.CONCURRENCY = 4  # type: ignore[attr-defined]
    settings.MEMORY_FLOOR_MIB = 1024  # type: ignore[attr-defined]
    monkeypatch.setattr("runs.guards.memory", lambda: Memory(free, None))
    found = finding("Memory")
    assert found.state == state
    assert f"room for {max(int((free - 1024) // 512), 0)} runs" in found.says


def test_it_goes_on_when_a_check_fails_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> Memory:
        raise OSError("no such thing")

    monkeypatch.setattr("runs.guards.memory", fail)
    found = doctor.examine()
    assert [each.state for each in found if "no such thing" in each.says] == ["missing"]
    assert len(found) == len(doctor.CHECKS)
    assert "✗ memory" in "\n".join(doctor.lines(found))
