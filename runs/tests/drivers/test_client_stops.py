"""Our own client of Codex's app-server, stopped with a child at work: whose doing its end is."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from fakes.codex_app_server.harness import install
from runs import clients
from runs.core.events import Kind
from runs.drivers.client import DRIVER
from runs.tests.clients.wired import Pipe
from runs.tests.drivers.conftest import MakeContext
from runs.tests.drivers.test_codex_wire import Kept


async def _played(folder: Path, make_context: MakeContext, play: str) -> Kept:
    fake, kept = install(folder), Kept()
    fake.set_scenario(clients.plays()[play].scenario)
    process = await asyncio.create_subprocess_exec(
        str(fake.codex), "app-server",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    talk = DRIVER.converse(make_context(DRIVER, play=play), Pipe(process), kept)
    assert talk is not None
    try:
        await asyncio.wait_for(talk, 25)
    finally:
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()
    return kept


@pytest.mark.parametrize(("play", "ours"), [("cl-23", 1), ("cl-24", 1), ("cl-01", 0), ("cl-31", 0)])
@pytest.mark.asyncio
async def test_a_child_that_a_stop_leaves_alone_ends_by_our_hand(
    tmp_path: Path, make_context: MakeContext, play: str, ours: int
) -> None:
    kept = await _played(tmp_path, make_context, play)
    said = [one for one in kept.of(Kind.CANCEL_REQUESTED) if one.source == "harness"]
    assert [one.data["by"] for one in said] == ["harness"] * ours
