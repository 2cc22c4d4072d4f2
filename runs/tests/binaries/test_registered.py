"""Executables that the operator registers, and the command that lists and installs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from django.core.management import call_command

from runs import binaries, registered, shelf
from runs.errors import HarnessError, UnknownName
from runs.shelf import Slot
from runs.tests.binaries.registry import Registry
from runs.tests.binaries.shelved import names, put
from runs.tests.binaries.toy import Toy


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
