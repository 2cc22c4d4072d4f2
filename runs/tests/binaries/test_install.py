"""The machine's real npm and pip, against a registry on loopback."""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from runs import binaries, install, node, npm, platforms, shelf
from runs.driver import Package
from runs.errors import (
    CannotRunHere,
    HarnessError,
    UnknownName,
    UnknownVersion,
    VersionCannotRun,
)
from runs.packages import explain
from runs.tests.binaries.registry import SCRIPT, Registry
from runs.tests.binaries.toy import Toy

pytestmark = pytest.mark.slow
ROOT = Path(__file__).resolve().parents[3]


def test_it_installs_a_version_and_says_what_it_is(toy: Toy, registry: Registry) -> None:
    said: list[str] = []
    binary = binaries.ensure("toy", "1.0.10", said.append)
    assert subprocess.check_output([binary.path], text=True) == "toy 1.0.10\n"
    assert binary.sha256 == hashlib.sha256(SCRIPT.format(version="1.0.10").encode()).hexdigest()
    assert binary.path.is_relative_to(binary.folder)
    assert said[0] == "installing toy 1.0.10"
    assert any(line.startswith("installed toy 1.0.10 (") for line in said)
    assert "npm install" in shelf.Slot("toy", "1.0.10").log.read_text()
    facts = json.loads((binary.folder / shelf.MANIFEST).read_text())
    assert (facts["version"], facts["package"]) == ("1.0.10", "@lifeline/toy")


def test_it_installs_and_prepares_a_version_once_and_lets_nobody_write_to_what_it_prepared(
    toy: Toy, registry: Registry
) -> None:
    first = binaries.ensure("toy", "1.0.10")
    binary = binaries.ensure("toy", "1.0.10")
    assert binary == first
    assert registry.downloads("1.0.10") == 1
    assert toy.prepared == ["1.0.10"]
    assert binary.prepared is not None
    payload = binary.prepared / "payload"
    assert payload.read_text() == "1.0.10"
    assert payload.stat().st_mode & 0o222 == 0
    assert binary.prepared.stat().st_mode & 0o222 == 0


def test_it_does_not_run_the_scripts_of_a_package(
    toy: Toy, registry: Registry, tmp_path: Path
) -> None:
    registry.publish("@lifeline/toy", "2.0.0", scripts={"postinstall": f"touch {tmp_path}/it-ran"})
    binaries.ensure("toy", "2.0.0")
    assert not (tmp_path / "it-ran").exists()


def test_it_gives_scripts_that_must_run_a_home_of_their_own_and_no_secrets(
    toy: Toy, registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PLANTED_TOKEN", "planted-secret")
    monkeypatch.setattr(Toy, "package", Package("npm", "@lifeline/toy", scripts="it unpacks"))
    registry.publish(
        "@lifeline/toy", "2.0.0", scripts={"postinstall": f"env > {tmp_path}/environment"}
    )
    binaries.ensure("toy", "2.0.0")
    seen = (tmp_path / "environment").read_text()
    assert "planted-secret" not in seen
    assert f"HOME={os.environ['HOME']}\n" not in seen


def test_it_asks_the_configured_registry_and_passes_no_token_on(
    toy: Toy, registry: Registry, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    host = registry.url.removeprefix("http:")
    configuration = tmp_path / "npmrc"
    configuration.write_text(f"registry={registry.url}\n{host}:_authToken=planted-secret\n")
    monkeypatch.delenv("npm_config_registry")
    monkeypatch.setenv("npm_config_userconfig", str(configuration))
    npm._configuration.cache_clear()
    binaries.ensure("toy", "1.0.10")
    assert registry.downloads("1.0.10") == 1
    assert not any("authorization" in headers for _, headers in registry.asked)


def test_it_says_that_a_version_does_not_exist(toy: Toy, registry: Registry) -> None:
    with pytest.raises(UnknownName, match="does not exist"):
        binaries.ensure("toy", "1.0.77")
    assert not shelf.slots("toy")


def test_it_refuses_a_version_that_is_too_old_before_it_asks(toy: Toy, registry: Registry) -> None:
    with pytest.raises(UnknownName, match=r"older than 1\.0\.0"):
        binaries.ensure("toy", "0.9.0")
    assert registry.asked == []


@pytest.mark.parametrize("version", ["../1.0.9", "1.0.9;x", "-g", "1.0.9 2", "$(id)"])
def test_it_refuses_what_is_no_version_before_it_reaches_npm_or_a_path(
    toy: Toy, registry: Registry, version: str
) -> None:
    with pytest.raises(UnknownName):
        binaries.ensure("toy", version)
    assert registry.asked == []


def test_it_says_that_there_is_no_package_for_this_platform_and_leaves_nothing(
    toy: Toy, registry: Registry, shelf_folder: Path
) -> None:
    registry.publish("@lifeline/toy", "2.0.0", files={"elsewhere": ""})
    with pytest.raises(CannotRunHere, match="no package for this platform"):
        binaries.ensure("toy", "2.0.0")
    assert not [path for path in (shelf_folder / "toy").iterdir() if path.is_dir()]


def test_it_tells_a_version_without_a_package_for_this_platform_from_one_that_does_not_exist(
    toy: Toy, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    platform = Package("npm", "@lifeline/toy", extra=("@lifeline/toy-here@{version}",))
    monkeypatch.setattr(Toy, "package", platform)
    registry.publish("@lifeline/toy-here", "1.0.10")
    assert binaries.ensure("toy", "1.0.10").version == "1.0.10"
    with pytest.raises(CannotRunHere, match="no package for this platform"):
        binaries.ensure("toy", "1.0.9")
    with pytest.raises(UnknownName, match="does not exist"):
        binaries.ensure("toy", "1.0.77")


def test_it_does_not_blame_a_version_for_an_optional_package_that_was_not_fetched(
    toy: Toy, registry: Registry
) -> None:
    here = platforms.here()
    optional = {f"@lifeline/toy-{here}": "2.0.0", "@lifeline/toy-plan9-x64": "2.0.0"}
    registry.publish(
        "@lifeline/toy", "2.0.0", files={"elsewhere": ""}, optionalDependencies=optional
    )
    with pytest.raises(VersionCannotRun, match="no package for this platform"):
        binaries.ensure("toy", "2.0.0")
    registry.publish(f"@lifeline/toy-{here}", "2.0.0")
    registry.archives[f"/@lifeline/toy-{here}/-/2.0.0.tgz"] = b""
    with pytest.raises(CannotRunHere, match="npm left out") as raised:
        binaries.ensure("toy", "2.0.0")
    assert not isinstance(raised.value, VersionCannotRun)


def test_it_says_that_a_newer_node_is_needed(toy: Toy, registry: Registry) -> None:
    registry.publish(
        "@lifeline/toy",
        "2.0.0",
        files={"toy": "#!/usr/bin/env node\n"},
        engines={"node": ">=99.2"},
    )
    with pytest.raises(CannotRunHere, match=r"needs Node 99\.2 or newer"):
        binaries.ensure("toy", "2.0.0")


def test_a_node_that_the_installation_brings_is_the_one_that_counts(
    toy: Toy, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Toy, "package", Package("npm", "@lifeline/toy", extra=("own-node@99.4.0",)))
    registry.publish(
        "@lifeline/toy",
        "2.0.0",
        files={"toy": "#!/usr/bin/env node\n"},
        engines={"node": ">=99.2"},
    )
    registry.publish(
        "own-node",
        "99.4.0",
        files={"bin/node": "#!/bin/sh\necho v99.4.0\n"},
        bin={"node": "bin/node"},
    )
    binary = binaries.ensure("toy", "2.0.0")
    assert node.of(binary.folder) == str(binary.folder / "node_modules" / ".bin" / "node")


def test_it_says_that_npm_is_missing(
    toy: Toy, registry: Registry, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(CannotRunHere, match="npm is not installed"):
        binaries.ensure("toy", "1.0.10")


def test_it_says_that_the_registry_cannot_be_reached(toy: Toy, registry: Registry) -> None:
    registry.close()
    with pytest.raises(CannotRunHere, match="cannot be reached"):
        binaries.ensure("toy", "1.0.10")


def test_it_says_that_the_disk_is_full_before_it_begins(
    toy: Toy, registry: Registry, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(install, "ROOM", shutil.disk_usage("/").total * 2)
    with pytest.raises(CannotRunHere, match="the disk is full"):
        binaries.ensure("toy", "1.0.10")
    assert registry.asked == []


@pytest.mark.parametrize(
    ("words", "kind", "ours"),
    [
        ("npm error code ENOSPC\nnpm error nospc", CannotRunHere, "disk is full"),
        ("npm error code ETARGET", UnknownVersion, "does not exist"),
        ("npm error code E404", UnknownName, "does not know it"),
        ("npm error code EBADPLATFORM", VersionCannotRun, "platform"),
        ("npm error code EAI_AGAIN", CannotRunHere, "cannot be reached"),
        ("npm error code E401", CannotRunHere, "refuses"),
        (
            "ERROR: Could not find a version that satisfies x==9 (from versions: 1, 2)",
            UnknownVersion,
            "does not exist",
        ),
        (
            "WARNING: Retrying after connection broken by 'NewConnectionError'\n"
            "ERROR: Could not find a version that satisfies x==9 (from versions: none)\n"
            "ERROR: No matching distribution found for x==9",
            CannotRunHere,
            "cannot be reached",
        ),
        (
            "ERROR: Could not find a version that satisfies x==9 (from versions: none)\n"
            "ERROR: No matching distribution found for x==9",
            CannotRunHere,
            "no version that fits",
        ),
        (
            "ERROR: Ignored the following versions that require a different python version: 9 "
            "Requires-Python >=4\n"
            "ERROR: Could not find a version that satisfies x==9 (from versions: none)",
            VersionCannotRun,
            "another Python",
        ),
        ("npm error something else\n", HarnessError, "something else"),
    ],
)
def test_it_puts_the_troubles_of_npm_and_pip_into_words(
    words: str, kind: type[HarnessError], ours: str
) -> None:
    trouble = explain("installing", words, "toy")
    assert type(trouble) is kind
    assert ours in trouble.what
    assert kind is not UnknownVersion or "`binaries list toy`" in trouble.do
