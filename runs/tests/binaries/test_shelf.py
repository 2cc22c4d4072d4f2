from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from django.core.management import call_command

from runs import binaries, npm, registered, shelf
from runs.driver import Package
from runs.errors import CannotRunHere, HarnessError, UnknownName
from runs.shelf import Slot
from runs.tests.binaries.registry import Registry
from runs.tests.binaries.toy import Toy

MIB = 1 << 20


def put(version: str, *, size: int = 10 * MIB, used: float = 0, agent: str = "toy") -> Slot:
    """A version that is installed as far as the shelf can tell; `used` seconds ago (0: never)."""
    slot = Slot(agent, version)
    slot.folder.mkdir(parents=True)
    (slot.folder / "toy").write_text(version)
    slot.note(executable="toy", size=size, at=time.time() - 10_000, version=version)
    if used:
        slot.touch()
        os.utime(slot.beside("used"), (time.time() - used,) * 2)
    return slot


def names(agent: str = "toy") -> list[str]:
    return [slot.version for slot in shelf.slots(agent)]


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
    registry.publish(name.replace("HERE", npm._here()), held.replace("HERE", npm._here()))
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


def test_it_expands_ranges_over_what_is_published(toy: Toy, registry: Registry) -> None:
    assert binaries.expand("toy", "1.0.9..1.0.10,1.1.0") == ["1.0.9", "1.0.10", "1.1.0"]


def executable(folder: Path, text: str = "#!/bin/sh\necho 'toy version 3.2.1.'\n") -> Path:
    """An executable of the operator's."""
    path = folder / "mine"
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_it_registers_an_executable_under_what_it_reports(toy: Toy, tmp_path: Path) -> None:
    path = executable(tmp_path)
    binary = binaries.register("toy", path)
    assert binary.version == f"3.2.1-local.{shelf.sha256(path)[:8]}"
    assert (binary.path, binary.registered) == (path, True)
    assert binary.prepared is not None
    assert binaries.ensure("toy", binary.version) == binary
    assert [item.registered for item in binaries.installed("toy")] == [True]


def test_it_forgets_a_registered_executable_and_leaves_it_where_it_is(
    toy: Toy, tmp_path: Path
) -> None:
    path = executable(tmp_path)
    binary = binaries.register("toy", path)
    binaries.remove("toy", binary.version)
    assert path.exists()
    assert registered.of("toy") == {}
    assert binaries.installed("toy") == []


def test_it_never_takes_a_registered_executable_by_itself(toy: Toy, tmp_path: Path) -> None:
    binaries.register("toy", executable(tmp_path))
    put("1.0.9")
    assert binaries.newest("toy") == "1.0.9"


def test_it_does_not_take_another_instances_registered_executable_for_an_installed_one(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    binary = binaries.register("toy", executable(tmp_path))
    put("1.0.9")
    monkeypatch.setenv("LIFELINE_VAR", str(tmp_path / "another"))
    assert binaries.newest("toy") == "1.0.9"
    with pytest.raises(UnknownName, match="not registered here"):
        binaries.ensure("toy", binary.version)


@pytest.mark.parametrize(
    ("text", "words"),
    [("#!/bin/sh\necho hello\n", "names no version"), ("not a program", "does not start")],
)
def test_it_registers_nothing_that_is_no_agent(
    toy: Toy, tmp_path: Path, text: str, words: str
) -> None:
    with pytest.raises(HarnessError, match=words):
        binaries.register("toy", executable(tmp_path, text))


def test_it_gives_the_reference_agent_without_installing(shelf_folder: Path) -> None:
    binary = binaries.ensure("reference", "")
    assert binary.version == binaries.newest("reference")
    assert binary.path.is_file()
    assert not shelf_folder.exists()


def test_the_command_answers_with_one_json_document(
    toy: Toy, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    put("1.0.9")
    call_command("binaries", "list", "toy", "--json")
    answer = json.loads(capsys.readouterr().out)
    assert [item["version"] for item in answer["installed"]] == ["1.0.9"]
    assert [item["version"] for item in answer["published"]][-1] == "1.1.0"


def test_the_command_installs_pins_and_removes(
    toy: Toy, registry: Registry, capsys: pytest.CaptureFixture[str]
) -> None:
    call_command("binaries", "install", "toy@1.0.9..1.0.10")
    assert names() == ["1.0.9", "1.0.10"]
    assert "installing toy 1.0.9" in capsys.readouterr().err
    call_command("binaries", "pin", "toy@1.0.9")
    assert Slot("toy", "1.0.9").pinned
    capsys.readouterr()
    call_command("binaries", "remove", "toy@1.0.9,1.0.10", "--json")
    assert json.loads(capsys.readouterr().out)["removed"] == ["toy@1.0.9", "toy@1.0.10"]
    assert names() == []


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("install", "nobody@1.0.0"), 2),
        (("remove", "toy@1.0.9"), 2),
        (("remove", "toy"), 2),
        (("install", "toy@../../etc"), 2),
    ],
)
def test_the_command_ends_with_two_on_a_wrong_call(
    toy: Toy, words: tuple[str, ...], code: int
) -> None:
    with pytest.raises(SystemExit) as ended:
        call_command("binaries", *words)
    assert ended.value.code == code


def test_the_command_ends_with_three_when_this_host_cannot(toy: Toy, registry: Registry) -> None:
    registry.close()
    with pytest.raises(SystemExit) as ended:
        call_command("binaries", "install", "toy@1.0.9")
    assert ended.value.code == 3
