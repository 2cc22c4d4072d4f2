"""Try a seal for real: start a shell in it and let it look for what it must not see."""

from __future__ import annotations

import asyncio
import os
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from runs.driver import Launch
from runs.errors import HarnessError
from runs.process import prepare
from runs.seal import Seal
from runs.workspace import Workspace


def trouble(seal: Seal) -> str:
    """Why this seal does not hold here; empty when it does. Takes a fraction of a second."""
    with tempfile.TemporaryDirectory(prefix="lifeline-seal-") as folder:
        planted = Path(folder, "planted")
        planted.write_text("not for agents")
        # A thread of its own: the caller may be inside an event loop.
        with ThreadPoolExecutor(1) as pool:
            try:
                return pool.submit(asyncio.run, _look(seal, Path(folder), planted)).result()
            except HarnessError as error:
                return error.what
            except OSError as error:
                return str(error)


async def _look(seal: Seal, folder: Path, planted: Path) -> str:
    workspace = Workspace(folder / "run", sealed=seal.files)
    async with prepare(workspace, seal) as stage:
        launch = Launch(argv=("/bin/sh", "-c", _questions(seal, planted)), env={})
        running = await stage.launch(launch)
        said = (await running.stdout.read(1000)).decode(errors="replace").strip()
        ended = await running.wait()
    if said or ended.code != 0:
        return said or f"a shell in it ended with {ended.code} (signal {ended.signal})"
    return ""


def _questions(seal: Seal, planted: Path) -> str:
    """A script that says what is wrong, and nothing when all is well."""
    script = ["touch written || echo it cannot write to its folder"]
    if seal.files:
        script.append(f"test ! -e {planted} || echo it sees files outside")
    for kind, held in (("net", seal.network), ("pid", seal.processes)):
        outside = os.readlink(f"/proc/self/ns/{kind}") if held else ""  # noqa: PTH115
        if held:
            script.append(
                f'test "$(readlink /proc/self/ns/{kind})" != "{outside}" '
                f"|| echo its {kind} namespace is ours"
            )
    if seal.processes:
        script.append('test "$(ls -d /proc/[0-9]* | wc -l)" -lt 12 || echo it sees our processes')
    return "\n".join([*script, "exit 0"])
