"""How an agent ends: said exactly, and with nothing left behind, whichever way it goes."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

from runs.driver import Launch
from runs.errors import HarnessError
from runs.process import prepare
from runs.seal import Seal, folders_of
from runs.tests.process.support import (
    AGENTS,
    PYTHON,
    agent,
    alive,
    python,
    run,
    wait_until_gone,
)
from runs.workspace import Workspace

ROOT = Path(__file__).resolve().parents[3]


@pytest.mark.parametrize("code", [0, 1, 42, 255])
async def test_it_gives_the_exit_code(seal: Seal, tmp_path: Path, code: int) -> None:
    ended = (await run(seal, tmp_path, ("/bin/sh", "-c", f"exit {code}"))).ended
    assert (ended.code, ended.signal, ended.lost) == (code, None, False)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGSEGV, signal.SIGTERM])
async def test_it_gives_the_signal(seal: Seal, tmp_path: Path, number: signal.Signals) -> None:
    ended = (await run(seal, tmp_path, ("/bin/sh", "-c", f"kill -{int(number)} $$"))).ended
    assert (ended.code, ended.signal, ended.lost) == (None, number, False)


async def test_it_keeps_the_exit_code_when_many_children_end_at_once(
    seal: Seal, tmp_path: Path
) -> None:
    script = "for i in 1 2 3 4 5 6 7 8 9 10; do (exit 3) & done; exit 9"
    assert (await run(seal, tmp_path, ("/bin/sh", "-c", script))).ended.code == 9


async def test_it_kills_daemons_that_left_the_session_when_the_agent_ends(
    seal: Seal, tmp_path: Path, token: str
) -> None:
    argv = agent(tmp_path, "escape.py", token, "exit")
    result = await run(seal, tmp_path, argv)
    assert result.ended.code == 7
    assert result.ended.left == 3
    assert alive(token) == []


async def test_it_kills_everything_on_cancel_though_term_is_ignored(
    seal: Seal, tmp_path: Path, token: str
) -> None:
    argv = agent(tmp_path, "escape.py", token, "stay")
    started = time.monotonic()
    result = await run(seal, tmp_path, argv, kill_after=b"ready")
    assert result.samples[0]["processes"] >= 4
    assert result.samples[0]["rss"] > 1_000_000
    assert result.ended.signal == signal.SIGKILL
    assert alive(token) == []
    assert time.monotonic() - started < 30


async def test_it_lets_an_agent_end_by_itself_on_term(seal: Seal, tmp_path: Path) -> None:
    code = (
        "import signal, sys, time; signal.signal(signal.SIGTERM, lambda *_: sys.exit(5));"
        "print('ready', flush=True); time.sleep(600)"
    )
    result = await run(seal, tmp_path, python(code), kill_after=b"ready")
    assert result.ended.code == 5


async def test_it_leaves_nothing_when_the_task_is_cancelled(
    seal: Seal, tmp_path: Path, token: str
) -> None:
    reached = asyncio.Event()

    async def work() -> None:
        workspace = Workspace(tmp_path / "runs" / "one", sealed=seal.files)
        async with prepare(
            workspace, seal, binary_folder=AGENTS, readonly=folders_of(PYTHON)
        ) as stage:
            argv = (str(PYTHON), "-I", "-S", str(AGENTS / "escape.py"), token, "stay")
            running = await stage.launch(Launch(argv=argv, env={}))
            await running.stdout.readline()
            reached.set()
            await running.wait()

    task = asyncio.create_task(work())
    await asyncio.wait_for(reached.wait(), 60)
    assert alive(token)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert alive(token) == []


WORKER = """
import asyncio, sys
from pathlib import Path
from runs.driver import Launch
from runs.process import prepare
from runs.seal import folders_of
from runs.tests.process.support import AGENTS, PYTHON, seal_of
from runs.workspace import Workspace

async def work(kind, folder, token):
    seal = seal_of(kind)
    workspace = Workspace(Path(folder) / "runs" / "one", sealed=seal.files)
    async with prepare(workspace, seal, binary_folder=AGENTS, readonly=folders_of(PYTHON)) as stage:
        argv = (str(PYTHON), "-I", "-S", str(AGENTS / "escape.py"), token, "stay")
        running = await stage.launch(Launch(argv=argv, env={}))
        print((await running.stdout.readline()).decode(), flush=True)
        await running.wait()

asyncio.run(work(*sys.argv[1:]))
"""


@pytest.mark.parametrize("kind", ["bwrap", "minder-sealed", "minder-alone"])
def test_it_leaves_nothing_when_the_worker_is_killed(kind: str, tmp_path: Path, token: str) -> None:
    from runs.tests.process.support import seal_of

    seal_of(kind)
    with subprocess.Popen(
        [sys.executable, "-c", WORKER, kind, str(tmp_path), token],
        stdout=subprocess.PIPE,
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": os.pathsep.join([str(ROOT), *sys.path])},
    ) as worker:
        assert worker.stdout is not None
        assert worker.stdout.readline().strip() == b"ready"
        assert len(alive(token)) >= 4
        worker.kill()
    assert wait_until_gone(token) == []


async def test_it_leaves_nothing_when_the_minder_itself_is_killed(
    seal: Seal, tmp_path: Path, token: str
) -> None:
    workspace = Workspace(tmp_path / "runs" / "one", sealed=seal.files)
    async with prepare(workspace, seal, binary_folder=AGENTS, readonly=folders_of(PYTHON)) as stage:
        argv = (str(PYTHON), "-I", "-S", str(AGENTS / "escape.py"), token, "stay")
        running = await stage.launch(Launch(argv=argv, env={}))
        await running.stdout.readline()
        running.sample()
        psutil.Process(running.pid).parent().kill()  # type: ignore[union-attr]
        ended = await running.wait()
        assert ended.lost
    assert alive(token) == []


async def test_it_leaves_nothing_of_an_agent_that_kills_its_minder_at_once(
    seal: Seal, tmp_path: Path, token: str
) -> None:
    code = (
        "import os, signal, time\n"
        "if os.fork() == 0:\n"
        "    os.setsid()\n"
        "    if os.fork() == 0: time.sleep(600)\n"
        "    os._exit(0)\n"
        "time.sleep(0.1)\n"
        "os.kill(os.getppid(), signal.SIGKILL); time.sleep(600)"
    )
    workspace = Workspace(tmp_path / "runs" / "one", sealed=seal.files)
    async with prepare(workspace, seal, readonly=folders_of(PYTHON)) as stage:
        running = await stage.launch(Launch(argv=python(code, token), env={}))
        if seal.processes:  # the first process of a namespace is out of its reach
            await running.kill(grace=0)
        # Nobody has looked at its tree: only what it carries tells that it is ours.
        assert (await running.wait()).lost or seal.processes
    assert alive(token) == []


async def test_it_ends_an_agent_that_has_stopped_the_minder(
    seal: Seal, tmp_path: Path, token: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("runs.process._ANSWER", 0.3)
    code = (
        "import os, signal, time\nif os.fork() == 0: time.sleep(600)\n"
        "os.kill(os.getppid(), signal.SIGSTOP); print('ready', flush=True); time.sleep(600)"
    )
    result = await run(seal, tmp_path, python(code, token), kill_after=b"ready")
    # The first process of a namespace cannot be stopped from inside; elsewhere nobody saw the end.
    assert result.ended.lost or seal.own_user
    assert wait_until_gone(token) == []


async def test_it_says_why_a_binary_cannot_be_started(seal: Seal, tmp_path: Path) -> None:
    for argv, why in ((("/no/such",), "No such file"), (("/etc/passwd",), "ermission")):
        with pytest.raises(HarnessError, match=why):
            await run(seal, tmp_path / why, argv)


async def test_it_measures_until_the_end(seal: Seal, tmp_path: Path) -> None:
    workspace = Workspace(tmp_path / "runs" / "one", sealed=seal.files)
    async with prepare(workspace, seal, want_listener=False) as stage:
        assert stage.listener is None
        running = await stage.launch(Launch(argv=("/bin/sh", "-c", "sleep 0.6; exit 4"), env={}))
        assert psutil.pid_exists(running.pid)
        samples = [sample async for sample in running.samples(0.1)]
        assert max(sample["processes"] for sample in samples) == 2  # the shell and its child
        assert (await running.wait()).code == 4
