"""Start small hostile programs in each kind of seal, and look what is left of them."""

from __future__ import annotations

import asyncio
import shutil
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psutil

from runs.driver import Launch
from runs.process import Ended, Limits, prepare
from runs.seal import Seal, candidates, folders_of
from runs.tests import needs
from runs.workspace import Workspace

AGENTS = Path(__file__).parent / "agents"
PYTHON = Path(sys.executable).resolve()
KINDS = ("bwrap", "minder-sealed", "minder-alone")


def is_kind(seal: Seal, kind: str) -> bool:
    if kind == "bwrap":
        return seal.by == "bwrap"
    return seal.by == "minder" and (
        seal.processes if kind == "minder-sealed" else not (seal.network or seal.processes)
    )


_found: dict[str, Seal | str] = {}


def seal_of(kind: str) -> Seal:
    """The first seal of the kind that works here; skipped with the reason where none does."""
    from runs.probe import trouble

    if kind not in _found:
        reasons = []
        for seal in candidates():
            if is_kind(seal, kind):
                why = trouble(seal)
                if not why:
                    _found[kind] = seal
                    break
                reasons.append(why)
        else:
            _found[kind] = "; ".join(reasons) or "there is none"
    found = _found[kind]
    if not isinstance(found, Seal):
        needs.lack(f"the seal {kind!r} does not work on this machine: {found}")
    return found


@dataclass
class Result:
    """What came of one agent."""

    ended: Ended
    stdout: bytes
    stderr: bytes
    network: list[dict[str, Any]]
    workspace: Workspace
    samples: list[dict[str, Any]] = field(default_factory=list)


def agent(folder: Path, name: str, *arguments: str) -> tuple[str, ...]:
    """A command that runs one of the hostile agents from its folder in a test's `folder`."""
    return (str(PYTHON), "-I", "-S", str(folder / "agent" / name), *arguments)


def python(code: str, *arguments: str) -> tuple[str, ...]:
    """A command that runs some Python."""
    return (str(PYTHON), "-I", "-S", "-c", code, *arguments)


async def run(
    seal: Seal,
    folder: Path,
    argv: Sequence[str],
    *,
    env: dict[str, str] | None = None,
    limits: Limits | None = None,
    stdin: bytes | None = None,
    kill_after: bytes | None = None,
) -> Result:
    """Run an agent to its end (or kill it when it has said `kill_after`)."""
    binary = folder / "agent"
    shutil.copytree(AGENTS, binary, dirs_exist_ok=True)
    workspace = Workspace(folder / "runs" / "one", sealed=seal.files)
    async with prepare(
        workspace, seal, binary_folder=binary, readonly=folders_of(PYTHON), limits=limits
    ) as stage:
        launch = Launch(argv=tuple(argv), env=env or {}, stdin="none" if stdin is None else "pipe")
        running = await stage.launch(launch)
        if stdin is not None and running.stdin is not None:
            running.stdin.write(stdin)
            await running.stdin.drain()
            running.stdin.close()
        errors = asyncio.ensure_future(running.stderr.read())
        output = b""
        if kill_after is not None:
            while kill_after not in output:
                chunk = await running.stdout.read(65536)
                assert chunk, await errors
                output += chunk
            measured = [running.sample()]
            await running.kill(grace=0.3)
        else:
            measured = []
        output += await running.stdout.read()
        ended = await running.wait()
        return Result(ended, output, await errors, list(stage.network), workspace, measured)


def alive(token: str) -> list[int]:
    """Processes of this machine that have the token on their command line, without us."""
    found = []
    for process in psutil.process_iter():
        try:
            if token in process.cmdline() and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process.pid)
        except psutil.Error:
            continue
    return found


def wait_until_gone(token: str, patience: float = 20.0) -> list[int]:
    """What is still there after a while; empty is good."""
    deadline = time.monotonic() + patience
    while (found := alive(token)) and time.monotonic() < deadline:
        time.sleep(0.05)
    return found
