"""Agents that flood, lie and fill: they stop as a guard or a plain error, we stay small."""

from __future__ import annotations

import asyncio
import os
import resource
import signal
from pathlib import Path

import pytest

from runs.driver import Launch
from runs.guards import MIB, OUTPUT, Guards
from runs.guards import Limits as Stops
from runs.process import Limits, prepare
from runs.seal import Seal, folders_of
from runs.tests.process.support import PYTHON, alive, python, run, seal_of
from runs.workspace import Workspace

FLOOD = "import os\nwhile True: os.write(1, b'x' * 65536)"


async def test_it_stops_a_flood_of_output_and_keeps_little_in_memory(
    seal: Seal, tmp_path: Path
) -> None:
    workspace = Workspace(tmp_path / "runs" / "one", sealed=seal.files)
    guards = Guards(Stops(output_mib=16, memory_floor_mib=None))
    async with prepare(workspace, seal, readonly=folders_of(PYTHON)) as stage:
        running = await stage.launch(Launch(argv=python(FLOOD), env={}))
        while guards.fired is None:
            guards.output(len(await running.stdout.read(65536)))
        await running.kill(grace=0)
    assert guards.fired.guard == OUTPUT
    assert guards.bytes < 17 * MIB


async def test_it_makes_a_flooding_agent_wait_while_nobody_reads(
    seal: Seal, tmp_path: Path
) -> None:
    code = (
        "import os, pathlib, sys\nfor n in range(10_000):\n"
        "    os.write(1, b'x' * 65536); pathlib.Path('n').write_text(str(n))"
    )
    workspace = Workspace(tmp_path / "runs" / "one", sealed=seal.files)
    async with prepare(workspace, seal, readonly=folders_of(PYTHON)) as stage:
        await stage.launch(Launch(argv=python(code), env={}))
        before = -1
        counter = workspace.work / "n"
        for _ in range(100):
            await asyncio.sleep(0.3)
            now = int(counter.read_text() or 0) if counter.exists() else 0
            if now == before:
                break
            before = now
        assert before < 20


async def test_it_passes_a_line_of_100_megabytes_and_bytes_that_are_no_text(
    seal: Seal, tmp_path: Path
) -> None:
    code = (
        "import os\nfor _ in range(1600): os.write(1, b'x' * 65536)\n"
        "os.write(1, b'\\n\\xff\\xfe\\x00\\x1b[31m<script>\\n')"
    )
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    workspace = Workspace(tmp_path / "runs" / "one", sealed=seal.files)
    size, last = 0, b""
    async with prepare(workspace, seal, readonly=folders_of(PYTHON)) as stage:
        running = await stage.launch(Launch(argv=python(code), env={}))
        while chunk := await running.stdout.read(65536):
            size, last = size + len(chunk), (last + chunk)[-100:]
        assert (await running.wait()).code == 0
    assert size > 100_000_000
    assert last.endswith(b"\n\xff\xfe\x00\x1b[31m<script>\n")
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 60_000


async def test_it_stops_a_file_that_grows_too_large(seal: Seal, tmp_path: Path) -> None:
    code = "f = open('big', 'wb')\nfor _ in range(64): f.write(b'x' * 65536); f.flush()"
    result = await run(seal, tmp_path, python(code), limits=Limits(file_mib=1))
    assert result.ended.code == 1 or result.ended.signal == signal.SIGXFSZ
    assert (result.workspace.work / "big").stat().st_size <= MIB


async def test_it_stops_an_agent_that_fills_the_disk_with_many_files(
    seal: Seal, tmp_path: Path
) -> None:
    code = "n = 0\nwhile True: open(str(n), 'wb').write(b'x' * 4000); n += 1"
    workspace = Workspace(tmp_path / "runs" / "one", sealed=seal.files)
    guards = Guards(Stops(disk_mib=8, memory_floor_mib=None), folder=workspace.root)
    async with prepare(workspace, seal, readonly=folders_of(PYTHON)) as stage:
        running = await stage.launch(Launch(argv=python(code), env={}))
        fired = await asyncio.wait_for(guards.watch(disk_every=0.1), 60)
        await running.kill(grace=0)
    assert (fired.guard, fired.what) == (OUTPUT, "disk")
    assert workspace.cut_down() < MIB
    assert sorted(path.name for path in workspace.root.iterdir()) == ["bodies", "logs", "sources"]


async def test_it_never_follows_a_link_where_a_session_file_should_be(
    seal: Seal, tmp_path: Path
) -> None:
    secret = tmp_path / "secret"
    secret.write_text("not for you")
    code = (
        "import os, sys\nhome, temp = os.environ['HOME'], os.environ['TMPDIR']\n"
        "os.makedirs(home + '/session/real'); os.symlink(sys.argv[1], home + '/session/a.jsonl')\n"
        "os.symlink(os.path.dirname(sys.argv[1]), home + '/session/folder')\n"
        "os.mkfifo(home + '/session/b.jsonl'); open(home + '/session/c.jsonl', 'w').write('{}')\n"
        "os.symlink(sys.argv[1], home + '/../logs/log'); os.mkdir(temp + '/shut', 0)"
    )
    result = await run(seal, tmp_path, python(code, str(secret)))
    assert result.ended.code == 0, result.stderr
    workspace = result.workspace
    session = workspace.home / "session"
    assert workspace.glob("home/**/*.jsonl") == [session / "c.jsonl"]
    assert workspace.glob("home/session/folder/*") == []
    with workspace.reading(session / "c.jsonl") as descriptor:
        assert os.read(descriptor, 10) == b"{}"
    for name in ("a.jsonl", "b.jsonl", "folder/secret", "real"):
        with pytest.raises(OSError), workspace.reading(session / name):
            pass
    assert workspace.cut_down() == 0
    assert list(workspace.logs.iterdir()) == []
    assert secret.read_text() == "not for you"


@pytest.mark.parametrize("kind", ["bwrap", "minder-sealed"])
async def test_it_ends_an_agent_that_becomes_ever_more(
    kind: str, tmp_path: Path, token: str
) -> None:
    code = (
        "import os, time\nfor _ in range(300):\n"
        "    try:\n        if os.fork() == 0: time.sleep(600)\n"
        "    except OSError: os._exit(3)\n"
        "time.sleep(600)"
    )
    result = await run(seal_of(kind), tmp_path, python(code, token), limits=Limits(processes=60))
    # The system itself refuses an ordinary user more; root's agent is ended by the minder.
    assert result.ended.crowded or result.ended.code == 3
    assert alive(token) == []


async def test_it_starts_with_no_signal_ignored(seal: Seal, tmp_path: Path) -> None:
    script = "while read key value; do test $key = SigIgn: && echo $value; done < /proc/self/status"
    before = signal.signal(signal.SIGUSR1, signal.SIG_IGN)
    try:
        result = await run(seal, tmp_path, ("/bin/sh", "-c", script))
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert int(result.stdout, 16) == 0


async def test_it_talks_over_standard_input(seal: Seal, tmp_path: Path) -> None:
    data = b"y" * 300_000
    result = await run(seal, tmp_path, ("/bin/cat",), stdin=data)
    assert result.stdout == data


async def test_it_survives_an_agent_that_closes_its_streams_and_runs_on(
    seal: Seal, tmp_path: Path
) -> None:
    result = await run(seal, tmp_path, ("/bin/sh", "-c", "exec >&- 2>&-; sleep 0.3; exit 6"))
    assert result.ended.code == 6
