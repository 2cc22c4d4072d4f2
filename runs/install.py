"""Installs and prepares one version: alone, in one step, with a log, in words when it fails.

An installation is made in a folder of its own and renamed when it is whole. A virtual
environment of Python cannot be moved, so it is made in its place, where it does not
count before its manifest is written.
"""

from __future__ import annotations

import errno
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from runs import node, npm, packages, pypi, shelf
from runs.driver import Binary, Driver, Package, Say
from runs.errors import (
    CannotRunHere,
    HarnessError,
    UnknownName,
    UnknownVersion,
    VersionCannotRun,
)
from runs.shelf import Slot

ROOM = 1 << 30
"""Bytes that must be free before anything is installed."""
_KINDS: dict[str, type[HarnessError]] = {
    kind.__name__: kind
    for kind in (HarnessError, UnknownName, UnknownVersion, CannotRunHere, VersionCannotRun)
}


def read(slot: Slot, named: str | None) -> Binary | None:
    """What is on the disk; None while it is not wholly installed.

    `named`: the registered executable's path, which the manifest only accompanies.
    """
    facts = slot.manifest()
    path = Path(named) if named else slot.folder / str(facts.get("executable", ""))
    if not facts or not path.is_file():
        return None
    digest = str(facts.get("sha256", ""))
    if facts.get("stamp") != shelf.stamp(path):
        digest = shelf.sha256(path)
        slot.note(sha256=digest, stamp=shelf.stamp(path))
    prepared = slot.folder / shelf.PREPARED
    return Binary(
        agent=slot.agent,
        version=slot.version,
        path=path,
        folder=whole(path) if named else slot.folder,
        sha256=digest,
        prepared=prepared if prepared.is_dir() else None,
        registered=named is not None,
    )


def whole(executable: Path) -> Path:
    """What an executable of the operator's needs to run: its packages, its environment, itself."""
    for folder in executable.parents:
        if (folder / "pyvenv.cfg").is_file():
            return folder
    parts = executable.parts
    if "node_modules" in parts:
        return Path(*parts[: parts.index("node_modules") + 1])
    return executable


def fetch_versions(package: Package, say: Say) -> list[packages.Published]:
    """The package's own list, asked now; HarnessError in words when it cannot be had."""
    packages.check(package)
    with tempfile.TemporaryDirectory(prefix="lifeline-") as folder:
        job = packages.Job(Path(folder), say, Path(folder) / "log")
        ask = npm.versions if package.registry == "npm" else pypi.versions
        try:
            return ask(package, job)
        except (ValueError, KeyError):
            raise HarnessError(
                f"The list of versions of {package.name} cannot be read.", "Is npm damaged?"
            ) from None


def install(
    driver: Driver, slot: Slot, named: str | None, say: Say, stop: Callable[[], bool]
) -> None:
    """Install and prepare; whoever comes second hears the first one's progress and result."""
    begin = time.time()
    with slot.sole(say, stop) as (joined, lock):
        if joined:
            _repeat_failure(slot, begin)
        slot.beside("progress").write_text("")

        def told(line: str) -> None:
            with suppress(OSError), slot.beside("progress").open("a") as file:
                file.write(line.replace("\n", " ") + "\n")
            say(line)

        try:
            binary = read(slot, named) or _install(driver, slot, told, stop, lock)
            if driver.needs_prepare() and binary.prepared is None:
                _prepare(driver, slot, binary, told)
        except OSError as error:
            trouble = _disk_trouble(slot, error)
            _note_failure(slot, trouble)
            raise trouble from error
        except HarnessError as error:
            _note_failure(slot, error)
            raise
        finally:
            slot.beside("progress").unlink(missing_ok=True)
        slot.beside("failed").unlink(missing_ok=True)


def _disk_trouble(slot: Slot, error: OSError) -> HarnessError:
    if error.errno in (errno.ENOSPC, errno.EDQUOT):
        return CannotRunHere(
            f"Installing {slot.agent}@{slot.version}: the disk is full.",
            "`binaries remove` frees some.",
        )
    return HarnessError(f"Installing {slot.agent}@{slot.version}: {error}.")


def _note_failure(slot: Slot, error: HarnessError) -> None:
    with suppress(OSError):
        facts = {"kind": type(error).__name__, "what": error.what, "do": error.do}
        shelf.write_json(slot.beside("failed"), {**facts, "at": time.time()})


def _repeat_failure(slot: Slot, since: float) -> None:
    """Raise what the one whom we joined ran into, instead of running into it again."""
    facts = shelf.read_json(slot.beside("failed"))
    if float(facts.get("at", 0)) >= since and "cancelled" not in str(facts.get("what")):
        kind = _KINDS.get(str(facts.get("kind")), HarnessError)
        raise kind(str(facts.get("what")), str(facts.get("do", "")))


def _install(driver: Driver, slot: Slot, say: Say, stop: Callable[[], bool], lock: int) -> Binary:
    free = shutil.disk_usage(slot.shelf).free
    if free < ROOM:
        raise CannotRunHere(
            f"Installing {slot.agent}@{slot.version}: the disk is full "
            f"({free / 1e9:.1f} GB are free, {ROOM / 1e9:.1f} GB are needed).",
            "`binaries remove` frees some.",
        )
    for left in slot.shelf.glob(f".making-{slot.version}-*"):
        shelf.clear(left)
    slot.log.write_text("")
    making = Path(tempfile.mkdtemp(prefix=f".making-{slot.version}-", dir=slot.shelf))
    try:
        (making / "home").mkdir()
        job = packages.Job(
            making / "home", say, slot.log, stop, keep_open=(lock,), agent=slot.agent
        )
        say(f"installing {slot.agent} {slot.version}")
        if driver.package.registry == "npm":
            (making / "tree").mkdir()
            npm.install(driver.package, slot.version, making / "tree", job)
            try:
                _finish(driver, slot, making / "tree")
            except VersionCannotRun:
                npm.check_left_out(driver.package, making / "tree", job)
                raise
            shelf.clear(slot.folder)
            (making / "tree").rename(slot.folder)
        else:
            shelf.clear(slot.folder)
            slot.folder.mkdir()
            pypi.install(driver.package, slot.version, slot.folder, job)
            _finish(driver, slot, slot.folder)
    finally:
        shelf.clear(making)
    found = read(slot, None)
    if found is None:
        raise HarnessError(f"{slot.agent}@{slot.version} was installed without its executable.")
    say(f"installed {slot.agent} {slot.version} ({slot.manifest().get('size', 0) / 1e6:.0f} MB)")
    return found


def _finish(driver: Driver, slot: Slot, tree: Path) -> None:
    """Check what was installed and write its manifest."""
    executable = driver.executable(tree)
    _check_node(slot, tree, executable)
    shelf.write_json(
        tree / shelf.MANIFEST,
        {
            "agent": slot.agent,
            "version": slot.version,
            "package": driver.package.name,
            "platform": f"{platform.system().lower()}-{platform.machine()}",
            "executable": str(executable.relative_to(tree)),
            "sha256": shelf.sha256(executable),
            "stamp": shelf.stamp(executable),
            "size": packages.size(tree),
            "at": time.time(),
        },
    )


def _check_node(slot: Slot, tree: Path, executable: Path) -> None:
    """VersionCannotRun when a script of Node's wants a newer Node than would run it here."""
    with executable.open("rb") as file:
        first = file.readline(200)
    if not first.startswith(b"#!") or b"node" not in first:
        return
    wanted = _wanted_node(tree, executable.resolve())
    have = _node_version(node.of(tree))
    if not have:
        raise CannotRunHere(f"{slot.agent}@{slot.version} needs Node.", "Install Node.")
    if wanted and have < wanted:
        raise VersionCannotRun(
            f"{slot.agent}@{slot.version} needs Node {'.'.join(map(str, wanted))} or newer; "
            f"here is {'.'.join(map(str, have))}.",
            "Install a newer Node, or choose an older version.",
        )


def _wanted_node(tree: Path, script: Path) -> tuple[int, ...]:
    """The lowest Node that the script's package accepts; empty when it does not say."""
    for folder in script.parents:
        manifest: dict[str, Any] = shelf.read_json(folder / "package.json")
        if "name" in manifest:
            engines = manifest.get("engines")
            text = str(engines.get("node", "")) if isinstance(engines, dict) else ""
            found = [
                tuple(int(part) for part in item.split("."))
                for item in re.findall(r"\d+(?:\.\d+)*", text.replace(" - ", " "))
            ]
            return min(found, default=())
        if folder == tree.resolve():
            break
    return ()


def _node_version(program: str) -> tuple[int, ...]:
    try:
        done = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return ()
    found = re.match(r"v(\d+)\.(\d+)\.(\d+)", done.stdout)
    return tuple(int(part) for part in found.groups()) if found else ()


def _prepare(driver: Driver, slot: Slot, binary: Binary, say: Say) -> None:
    """Make what every run would otherwise make at its start; once, and then read-only."""
    say(f"preparing {slot.agent} {slot.version}")
    making = Path(tempfile.mkdtemp(prefix=f".making-{slot.version}-", dir=slot.shelf))
    try:
        try:
            driver.prepare(binary, making, say)
        except VersionCannotRun:
            slot.note(starts=False)
            raise
        place = slot.folder / shelf.PREPARED
        shelf.clear(place)
        making.rename(place)
    finally:
        shelf.clear(making)
    _make_readonly(place)
    size = packages.size(slot.folder)
    slot.note(size=size, starts=True)
    say(f"prepared {slot.agent} {slot.version} ({size / 1e6:.0f} MB in all)")


def _make_readonly(folder: Path) -> None:
    """Runs share it: none of them may change it, also where no seal keeps them from it."""
    for at, _, names in os.walk(folder):
        for name in names:
            path = Path(at) / name
            if not path.is_symlink():
                path.chmod(path.stat().st_mode & 0o555)
        Path(at).chmod(0o555)
