"""Executables that the operator named on the command line; they stay where they are.

Kept in ``var/registered.json`` of this instance: agent → version's name → path. The
name is the version that the executable reports, with a mark of its content, so that
it never passes for the published one. A client of the operator's has the mark alone:
it takes its last argument for a prompt, so it is not asked for its version.
"""

from __future__ import annotations

import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from runs import shelf
from runs.driver import Driver
from runs.errors import HarnessError, UnknownName
from runs.seal import interpreter_of
from runs.versions import valid

_REPORTED = re.compile(r"\d+\.\d+(?:\.\d+)*(?:-[0-9A-Za-z]+(?:\.[0-9A-Za-z]+)*)?")


def _place() -> Path:
    given = os.environ.get("LIFELINE_VAR")
    return (Path(given) if given else Path(__file__).resolve().parent.parent / "var").joinpath(
        "registered.json"
    )


def of(agent: str) -> Mapping[str, str]:
    """The registered executables of an agent: path by version's name."""
    found = shelf.read_json(_place()).get(agent, {})
    return {
        str(version): str(path)
        for version, path in (found.items() if isinstance(found, dict) else ())
        if valid(str(version))
    }


def agents() -> list[str]:
    """The agents that have any."""
    return sorted(agent for agent in shelf.read_json(_place()) if valid(agent) and of(agent))


def add(driver: Driver, path: Path) -> str:
    """Register an executable; gives its version's name. HarnessError when it does not start."""
    try:
        path = path.resolve(strict=True)
    except OSError:
        raise UnknownName(f"There is no file {path}.") from None
    if not path.is_file() or not os.access(path, os.X_OK):
        raise HarnessError(f"{path} is not executable.", "Name the executable itself.")
    if driver.package.registry == "builtin" and not driver.registers:
        raise HarnessError(f"{driver.name} comes with Lifeline; nothing can be registered for it.")
    interpreter = interpreter_of(path)
    if interpreter is not None and not interpreter.exists():
        raise HarnessError(f"{path} is to be run by {interpreter}, and that is not there.")
    digest = shelf.sha256(path)
    mark = f"local.{digest[:8]}"
    name = mark if driver.registers else f"{_reported(path)}-{mark}"
    known = shelf.read_json(_place())
    known[driver.name] = {**of(driver.name), name: str(path)}
    shelf.write_json(_place(), known)
    slot = shelf.Slot(driver.name, name)
    slot.note(executable=path.name, sha256=digest, stamp=shelf.stamp(path), size=0)
    return name


def _reported(path: Path) -> str:
    """The version that the executable reports."""
    with tempfile.TemporaryDirectory(prefix="lifeline-") as home:
        env = {"PATH": os.environ.get("PATH", ""), "HOME": home, "TMPDIR": home, "NO_COLOR": "1"}
        try:
            done = subprocess.run(
                [path, "--version"],
                stdin=subprocess.DEVNULL,
                capture_output=True,
                env=env,
                cwd=home,
                timeout=60,
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise HarnessError(f"{path} does not start: {error}.") from None
    found = _REPORTED.search(done.stdout.decode(errors="replace"))
    if found is None:
        raise HarnessError(f"{path} --version names no version.", "Is it an agent's executable?")
    return found[0]


def forget(agent: str, version: str) -> bool:
    """Forget a registered executable; False when it was none."""
    known = shelf.read_json(_place())
    mine = dict(of(agent))
    if mine.pop(version, None) is None:
        return False
    known[agent] = mine
    shelf.write_json(_place(), known)
    return True
