"""Installing while others install, stop, fail or are killed; digests; Python packages."""

from __future__ import annotations

import hashlib
import signal
import subprocess
import sys
import threading
import time
import zipfile
from pathlib import Path

import pytest

from runs import binaries, pypi, shelf
from runs.errors import (
    CannotRunHere,
    HarnessError,
)
from runs.tests.binaries.registry import Registry
from runs.tests.binaries.toy import Toy

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[3]


def test_it_lets_a_second_asker_join_the_first(toy: Toy, registry: Registry) -> None:
    registry.pause = 1.0
    heard: list[list[str]] = [[], []]
    found: list[binaries.Binary] = []
    threads = [
        threading.Thread(
            target=lambda said=said: found.append(binaries.ensure("toy", "1.0.10", said.append))
        )
        for said in heard
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert found[0] == found[1]
    assert registry.downloads("1.0.10") == 1
    assert toy.prepared == ["1.0.10"]
    assert all("installing toy 1.0.10" in said for said in heard)


def test_it_tells_those_who_joined_why_it_failed(toy: Toy, registry: Registry) -> None:
    registry.pause = 1.0
    registry.publish("@lifeline/toy", "2.0.0", files={"elsewhere": ""})
    troubles: list[str] = []

    def ask() -> None:
        try:
            binaries.ensure("toy", "2.0.0")
        except CannotRunHere as error:
            troubles.append(error.what)

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert troubles == ["This version has no package for this platform."] * 3
    assert registry.downloads("2.0.0") == 1


def test_it_can_be_stopped(toy: Toy, registry: Registry) -> None:
    registry.pause = 30.0
    begin = time.monotonic()
    with pytest.raises(HarnessError, match="cancelled"):
        binaries.ensure("toy", "1.0.10", stop=lambda: registry.downloads("1.0.10") > 0)
    assert time.monotonic() - begin < 25
    assert not shelf.slots("toy")


def test_it_installs_anew_after_an_installer_was_killed(
    toy: Toy, registry: Registry, shelf_folder: Path
) -> None:
    registry.pause = 60.0
    code = (
        "from runs import binaries, node, catalogue\n"
        "from runs.tests.binaries.toy import Toy\n"
        "catalogue.drivers = lambda: {'toy': Toy()}\n"
        "binaries.ensure('toy', '1.0.10')\n"
    )
    killed = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT, start_new_session=True)
    limit = time.monotonic() + 60
    while not registry.downloads("1.0.10") and time.monotonic() < limit:
        time.sleep(0.05)
    killed.send_signal(signal.SIGKILL)
    killed.wait()
    assert not shelf.slots("toy")
    registry.pause = 0.0
    assert binaries.ensure("toy", "1.0.10").version == "1.0.10"
    assert not list((shelf_folder / "toy").glob(".making-*"))


def test_it_computes_the_digest_again_when_the_executable_changes(
    toy: Toy, registry: Registry
) -> None:
    binary = binaries.ensure("toy", "1.0.10")
    binary.path.write_text("#!/bin/sh\necho changed\n")
    again = binaries.ensure("toy", "1.0.10")
    assert again.sha256 == hashlib.sha256(binary.path.read_bytes()).hexdigest()
    assert again.sha256 != binary.sha256


def test_it_installs_a_python_package_into_an_environment_of_its_own(
    toy: Toy, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PIP_FIND_LINKS", str(_wheel(tmp_path, "1.2.3").parent))
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    pypi._configuration.cache_clear()
    try:
        binary = binaries.ensure("pytoy", "1.2.3")
    finally:
        pypi._configuration.cache_clear()
    assert subprocess.check_output([binary.path], text=True) == "toy 1.2.3\n"
    assert (binary.folder / "venv" / "pyvenv.cfg").is_file()


def _wheel(folder: Path, version: str) -> Path:
    """A Python package with one command."""
    path = folder / "wheels" / f"lifeline_toy-{version}-py3-none-any.whl"
    path.parent.mkdir()
    about = f"lifeline_toy-{version}.dist-info"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("lifeline_toy.py", f"def main():\n    print('toy {version}')\n")
        archive.writestr(
            f"{about}/METADATA",
            f"Metadata-Version: 2.1\nName: lifeline-toy\nVersion: {version}\n",
        )
        archive.writestr(
            f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(
            f"{about}/entry_points.txt",
            "[console_scripts]\nlifeline-toy = lifeline_toy:main\n",
        )
        archive.writestr(f"{about}/RECORD", "")
    return path
