"""Runs a third party's program once, to its end, in the same seal as a run (``prepare``)."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from runs import process
from runs.driver import Launch
from runs.errors import CannotRunHere
from runs.seal import best_seal
from runs.workspace import Workspace

LIMIT = 300.0
"""Seconds."""
OUTPUT = 1 << 16
"""Bytes that are kept of what it writes."""


@dataclass(frozen=True, slots=True)
class Done:
    """How it ended; `code` is None when a signal or our limit ended it."""

    code: int | None
    output: str


def rehearse(
    argv: Sequence[str],
    env: Mapping[str, str],
    *,
    readonly: Sequence[Path],
    keep: str,
    into: Path,
    limit: float = LIMIT,
) -> Done:
    """Start it in an empty workspace; move the folder `keep` of its home to be `into`.

    ``{home}`` in a value of `env` is its home as it sees it. CannotRunHere when this host
    cannot seal it and the operator has not allowed that.
    """
    seal = best_seal()
    if not seal.whole and os.environ.get("LIFELINE_ALLOW_UNSEALED") != "1":
        raise CannotRunHere(
            f"This host cannot seal a program: {seal.why}.",
            "Install bubblewrap, or set LIFELINE_ALLOW_UNSEALED=1 to run without a seal.",
        )
    with tempfile.TemporaryDirectory(prefix=".rehearsal-", dir=into.parent) as folder:
        workspace = Workspace(Path(folder) / "run", sealed=seal.files)
        home = str(workspace.inside.home)
        launch = Launch(
            argv=tuple(argv),
            env={name: value.replace("{home}", home) for name, value in env.items()},
        )
        (workspace.home / keep).mkdir(parents=True)
        done = asyncio.run(_run(workspace, launch, list(readonly), limit))
        made = workspace.home / keep
        if made.is_dir() and not made.is_symlink():
            shutil.rmtree(into, ignore_errors=True)
            made.rename(into)
        return done


async def _run(workspace: Workspace, launch: Launch, readonly: list[Path], limit: float) -> Done:
    async with process.prepare(
        workspace, best_seal(), readonly=readonly, want_listener=False
    ) as stage:
        running = await stage.launch(launch)
        reads = [asyncio.create_task(_read(stream)) for stream in (running.stdout, running.stderr)]
        try:
            ended = await asyncio.wait_for(running.wait(), limit)
        except TimeoutError:
            ended = await running.kill()
        texts = await asyncio.gather(*reads)
    return Done(ended.code, b"".join(texts).decode(errors="replace"))


async def _read(stream: asyncio.StreamReader) -> bytes:
    kept = b""
    while data := await stream.read(1 << 16):
        kept = (kept + data)[-OUTPUT:]
    return kept
