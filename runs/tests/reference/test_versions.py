"""The versions that the reference agent pretends to come in."""

from __future__ import annotations

import asyncio
import subprocess
from pathlib import Path

import pytest

from fakes.reference_agent.misbehaviours import Behaviour, table
from fakes.reference_agent.versions import KNOWN, NEWEST, VERSIONS, behaviour
from runs import pythons
from runs.core.events import Kind
from runs.drivers.reference import DRIVER
from runs.tests.reference.stage import ROOM, play


def ask(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Start the agent's program with these arguments and nothing else in its environment."""
    program = str(DRIVER.executable(ROOM))
    return subprocess.run(
        [str(pythons.ours()), "-B", "-E", "-s", "-S", program, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={},
        cwd="/",
    )


def test_it_has_some_twenty_versions_of_which_the_newest_is_well_behaved() -> None:
    assert 18 <= len(VERSIONS) <= 25
    numbers = [tuple(map(int, version.number.split("."))) for version in VERSIONS]
    assert numbers == sorted(numbers)
    assert [version.date for version in VERSIONS] == sorted(v.date for v in VERSIONS)
    assert KNOWN[NEWEST].starts
    assert behaviour(NEWEST, None) == frozenset()
    assert sum(not version.starts for version in VERSIONS) == 1
    assert sum(0 < version.chance < 1 for version in VERSIONS) == 1
    for version in VERSIONS:
        assert set(version.breaks) <= set(table())


def test_it_draws_a_race_anew_at_each_start_unless_it_is_seeded() -> None:
    race = next(version.number for version in VERSIONS if version.chance < 1)
    drawn = {behaviour(race, seed) for seed in range(50)}
    assert len(drawn) == 2
    assert behaviour(race, 7) == behaviour(race, 7)
    assert len({behaviour(race, None) for _ in range(200)}) == 2


def test_it_says_its_version_from_any_folder_without_an_environment() -> None:
    assert ask("--version").stdout == f"reference {NEWEST}\n"
    assert ask("--version", "--pretend", "0.5.0").stdout == "reference 0.5.0\n"


def test_it_cannot_start_in_one_version() -> None:
    broken = next(version.number for version in VERSIONS if not version.starts)
    done = ask("--pretend", broken, "--prompt", "x")
    assert done.returncode == 3
    assert "cannot start" in done.stderr
    assert done.stdout == ""
    assert not DRIVER.can_start(broken)
    assert DRIVER.can_start(NEWEST)


def test_it_refuses_a_misbehaviour_that_does_not_exist() -> None:
    assert ask("--misbehave", "nonsense").returncode == 2
    with pytest.raises(ValueError, match="known: "):
        Behaviour(frozenset({"nonsense"}))


async def test_it_changes_from_version_to_version(tmp_path: Path) -> None:
    seen = {}
    numbers = ("0.5.0", "0.6.0", "0.7.0", NEWEST)
    plays = [play("sse-cut", tmp_path / number, version=number) for number in numbers]
    for number, played in zip(numbers, await asyncio.gather(*plays), strict=True):
        (ended,) = played.history.of(Kind.AGENT_ENDED)
        told = [event.get("status") for event in played.history.of(Kind.NOTICE_DELIVERED)]
        (started,) = played.history.of(Kind.SESSION_STARTED)
        assert started.get("version") == number
        seen[number] = (ended.get("status"), told, played.code)
    assert seen == {
        "0.5.0": ("failed", ["failed"], 0),
        "0.6.0": ("completed", ["completed"], 0),
        "0.7.0": ("failed", [], 1),
        NEWEST: ("failed", ["failed"], 0),
    }
