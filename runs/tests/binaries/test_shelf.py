"""What is on the shelf: listing, removing, making room, choosing a version."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from runs import binaries, platforms, shelf
from runs.driver import Package
from runs.errors import CannotRunHere, HarnessError, UnknownName
from runs.shelf import Slot
from runs.tests.binaries.registry import Registry
from runs.tests.binaries.shelved import names, put
from runs.tests.binaries.toy import Toy


def test_it_lists_what_is_installed_oldest_first(toy: Toy) -> None:
    for version in ("1.0.10", "1.0.9", "1.1.0"):
        put(version)
    assert [item.version for item in binaries.installed("toy")] == ["1.0.9", "1.0.10", "1.1.0"]
    assert {item.agent for item in binaries.installed()} == {"toy"}


def test_it_does_not_count_an_installation_without_its_manifest(toy: Toy) -> None:
    slot = put("1.0.9")
    (slot.folder / shelf.MANIFEST).unlink()
    assert binaries.installed("toy") == []


def test_it_removes_a_version_and_says_what_that_freed(toy: Toy) -> None:
    slot = put("1.0.9", size=7)
    assert binaries.remove("toy", "1.0.9") == 7
    assert not slot.folder.exists()
    with pytest.raises(UnknownName, match="not installed"):
        binaries.remove("toy", "1.0.9")


def test_it_removes_also_what_was_made_read_only(toy: Toy) -> None:
    slot = put("1.0.9")
    prepared = slot.folder / shelf.PREPARED
    prepared.mkdir()
    (prepared / "payload").write_text("x")
    prepared.chmod(0o555)
    binaries.remove("toy", "1.0.9")
    assert not slot.folder.exists()


def test_it_removes_nothing_that_is_in_use(toy: Toy) -> None:
    slot = put("1.0.9")
    with slot.hold():
        assert binaries.installed("toy")[0].in_use
        with pytest.raises(HarnessError, match="in use"):
            binaries.remove("toy", "1.0.9")
    assert not binaries.installed("toy")[0].in_use
    binaries.remove("toy", "1.0.9")


def test_it_counts_a_version_as_used_while_another_process_holds_it_and_no_longer(
    toy: Toy,
) -> None:
    slot = put("1.0.9")
    code = (
        "from runs.shelf import Slot\nimport sys\n"
        "with Slot('toy', '1.0.9').hold():\n    print('held', flush=True)\n    sys.stdin.read()\n"
    )
    root = Path(__file__).resolve().parents[3]
    holder = subprocess.Popen(
        [sys.executable, "-c", code],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    assert slot.in_use()
    holder.kill()
    holder.communicate()
    assert not slot.in_use()


def test_it_makes_room_by_removing_what_was_unused_for_longest(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIFELINE_BINARIES_GIB", str(25 / 1024))
    put("1.0.1", used=5000)
    put("1.0.2", used=9000)
    put("1.0.3", used=7000)
    assert binaries.make_room() == ["toy@1.0.2"]
    assert names() == ["1.0.1", "1.0.3"]


def test_it_never_makes_room_with_what_is_in_use_pinned_just_used_or_asked_for(
    toy: Toy, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LIFELINE_BINARIES_GIB", str(1 / 1024))
    held = put("1.0.1", used=9000)
    put("1.0.2", used=8000)
    put("1.0.3", used=1)
    put("1.0.4", used=7000)
    put("1.0.5", used=6000)
    binaries.pin("toy", "1.0.2")
    with held.hold():
        os.utime(held.beside("used"), (time.time() - 9000,) * 2)
        assert binaries.make_room(keep=Slot("toy", "1.0.4")) == ["toy@1.0.5"]
    assert names() == ["1.0.1", "1.0.2", "1.0.3", "1.0.4"]


def test_it_keeps_everything_without_a_budget(toy: Toy, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LIFELINE_BINARIES_GIB", "0")
    put("1.0.1", size=1 << 50)
    assert binaries.make_room() == []


def test_it_takes_the_newest_installed_release_that_can_start(toy: Toy) -> None:
    put("1.0.9")
    put("1.0.10")
    put("1.1.0-2")
    put("1.1.0").note(starts=False)
    assert binaries.newest("toy") == "1.0.10"


def test_it_takes_the_newest_published_release_where_none_is_installed(
    toy: Toy, registry: Registry
) -> None:
    registry.publish("@lifeline/toy", "1.2.0-1")
    assert binaries.newest("toy") == "1.1.0"


def test_it_reads_versions_with_dates_and_goes_on_without_a_network(
    toy: Toy, registry: Registry
) -> None:
    found = binaries.versions("toy")
    assert [item.version for item in found] == ["1.0.9", "1.0.10", "1.1.0-2", "1.1.0"]
    assert found[0].date == "2026-01-01T00:00:00.000Z"
    assert all(item.here for item in found)
    registry.close()
    put("1.0.11")
    again = binaries.versions("toy", refresh=True)
    assert [item.version for item in again] == ["1.0.9", "1.0.10", "1.0.11", "1.1.0-2", "1.1.0"]


@pytest.mark.parametrize(
    ("form", "name", "held"),
    [
        ("@lifeline/toy-{platform}@{version}", "@lifeline/toy-HERE", "1.1.0"),
        ("@lifeline/toy@{version}-{platform}", "@lifeline/toy", "1.1.0-HERE"),
    ],
)
def test_it_tells_the_versions_without_a_package_for_this_platform(
    toy: Toy,
    registry: Registry,
    monkeypatch: pytest.MonkeyPatch,
    form: str,
    name: str,
    held: str,
) -> None:
    monkeypatch.setattr(Toy, "package", Package("npm", "@lifeline/toy", platform=form))
    registry.publish(name.replace("HERE", platforms.here()), held.replace("HERE", platforms.here()))
    for found in (binaries.versions("toy"), binaries.versions("toy", refresh=False)):
        assert {item.version: item.here for item in found} == {
            **{"1.0.9": False, "1.0.10": False, "1.1.0-2": False},
            **{"1.1.0": True},
        }
    assert binaries.newest("toy") == "1.1.0"


def test_it_says_that_it_knows_no_version_when_there_never_was_a_network(
    toy: Toy, registry: Registry
) -> None:
    registry.close()
    with pytest.raises(CannotRunHere, match="cannot be reached"):
        binaries.versions("toy")


def test_it_asks_no_registry_twice_within_hours(toy: Toy, registry: Registry) -> None:
    binaries.versions("toy")
    asked = len(registry.asked)
    binaries.versions("toy")
    assert len(registry.asked) == asked
