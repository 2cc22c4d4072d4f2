"""What an agent sees and reaches from inside: nothing that it must not."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import tempfile
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from runs.driver import Launch
from runs.errors import HarnessError
from runs.probe import trouble
from runs.process import prepare
from runs.seal import Seal, best_seal, folders_of, interpreter_of
from runs.tests.process.support import PYTHON, Result, agent, python, run, seal_of
from runs.workspace import Workspace


@pytest.fixture
def planted() -> Iterator[Path]:
    """A file in the real home."""
    path = Path.home() / f".lifeline-planted-{uuid.uuid4().hex}"
    path.write_text("a secret of the person")
    yield path
    path.unlink()


@pytest.fixture
def doors(tmp_path: Path) -> Iterator[dict[str, Any]]:
    """Listeners of this machine: a unix socket as Redis has it, an abstract one, a port."""
    path = tmp_path / "redis.sock"
    unix, port = socket.socket(socket.AF_UNIX), socket.socket()
    unix.bind(str(path))
    port.bind(("127.0.0.1", 0))
    for sock in (unix, port):
        sock.listen()
    abstract = uuid.uuid4().hex
    with socket.socket(socket.AF_UNIX) as hidden:
        hidden.bind("\0" + abstract)
        hidden.listen()
        yield {"socket": str(path), "abstract": abstract, "port": port.getsockname()[1]}
    unix.close()
    port.close()


@pytest.fixture
def foreign(token: str) -> Iterator[str]:
    """A process of somebody else, known by its command line."""
    with subprocess.Popen(["/bin/sh", "-c", "read x", token], stdin=subprocess.PIPE) as process:
        yield token
        process.communicate()


async def spy(seal: Seal, folder: Path, planted: Path, doors: dict[str, Any]) -> Result:
    asked = doors | {"planted": str(planted), "sources": str(folder / "runs/one/sources")}
    argv = agent(folder, "spy.py", json.dumps(asked))
    return await run(seal, folder, argv, env={"GIVEN": "yes"})


async def test_it_hides_home_socket_processes_and_other_runs(
    tmp_path: Path, planted: Path, doors: dict[str, Any], foreign: str
) -> None:
    result = await spy(seal_of("bwrap"), tmp_path, planted, doors)
    got = json.loads(result.stdout)
    for what in ("planted", "own", "sources", "socket", "abstract", "loopback", "name", "address"):
        assert str(got[what]).startswith("refused"), (what, got[what])
    assert len(got["processes"]) <= 4
    assert not any("--ro-bind" in line for line in got["processes"])
    assert not any(str(foreign) in line for line in got["processes"])
    assert got["uid"] == 1000
    assert got["cwd"] == "/w/work"


@pytest.mark.parametrize("kind", ["bwrap", "minder-sealed"])
async def test_it_reports_the_name_and_the_address_that_were_tried(
    kind: str, tmp_path: Path, planted: Path, doors: dict[str, Any], foreign: str
) -> None:
    result = await spy(seal_of(kind), tmp_path, planted, doors)
    got = json.loads(result.stdout)
    for what in ("abstract", "loopback", "name", "address", "six"):
        assert str(got[what]).startswith("refused"), (what, got[what])
    assert not any(str(foreign) in line for line in got["processes"])
    assert got["kernel"] == []
    assert {"host": "", "address": "203.0.113.1", "port": 443, "what": "tcp"} in result.network
    assert "example.com" in {attempt["host"] for attempt in result.network}
    assert not any(attempt["address"].startswith("127.") for attempt in result.network)


async def test_it_gives_the_agent_no_privilege_and_no_foreign_variable(
    seal: Seal,
    tmp_path: Path,
    planted: Path,
    doors: dict[str, Any],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("LIFELINE_SECRET_OF_OURS", "1")
    monkeypatch.setenv("OPENAI_API_KEY", "a key")
    got = json.loads((await spy(seal, tmp_path, planted, doors)).stdout)
    assert {int(value, 16) for value in got["capabilities"]} == {0}
    allowed = set(Workspace(tmp_path / "other", sealed=seal.files).environment({})) | {"GIVEN"}
    assert set(got["environment"]) - allowed <= {"LC_CTYPE", "PWD", "SHLVL", "_"}


async def test_it_serves_the_provider_from_outside(seal: Seal, tmp_path: Path) -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"heard " + await reader.readline())
        writer.close()

    code = (
        "import socket, sys; s = socket.create_connection(('127.0.0.1', int(sys.argv[1])));"
        "s.sendall(b'hello\\n'); print(s.makefile().read())"
    )
    workspace = Workspace(tmp_path / "runs" / "one", sealed=seal.files)
    async with prepare(workspace, seal, readonly=folders_of(PYTHON)) as stage:
        assert stage.base_url == f"http://127.0.0.1:{stage.port}"
        server = await asyncio.start_server(serve, sock=stage.listener)
        running = await stage.launch(Launch(argv=python(code, str(stage.port)), env={}))
        assert (await running.stdout.read()).strip() == b"heard hello"
        assert (await running.wait()).code == 0
        server.close()


async def test_it_shows_a_registered_binary_only_from_a_folder_of_its_own(tmp_path: Path) -> None:
    seal = seal_of("bwrap")
    for number, folder in enumerate((Path.home(), Path("/"), tmp_path, Path("/tmp"))):
        workspace = Workspace(tmp_path / "runs" / str(number), sealed=True)
        with pytest.raises(HarnessError, match="more than"):
            async with prepare(workspace, seal, binary_folder=folder):
                pass


async def test_it_shows_a_lone_executable_without_what_lies_beside_it(planted: Path) -> None:
    seal = seal_of("bwrap")
    lone = planted.with_name(planted.name + "-agent")
    lone.write_text('#!/bin/sh\nls -A "$(dirname "$0")"\n')
    lone.chmod(0o755)
    try:
        with tempfile.TemporaryDirectory() as folder:
            workspace = Workspace(Path(folder) / "one", sealed=True)
            async with prepare(
                workspace, seal, binary_folder=lone.parent, executable=lone
            ) as stage:
                running = await stage.launch(Launch(argv=(str(lone),), env={}))
                seen = (await running.stdout.read()).decode().split()
                assert (await running.wait()).code == 0
    finally:
        lone.unlink()
    assert lone.name in seen
    assert planted.name not in seen


def test_it_finds_out_that_a_seal_does_not_hold() -> None:
    assert "cannot be started" in trouble(Seal(False, True, False, "minder"))
    assert "net namespace" in trouble(Seal(True, False, False, "minder"))
    assert "bwrap" in trouble(Seal(True, True, True, "bwrap", bwrap=Path("/no/bwrap")))


def test_it_prefers_the_whole_seal_and_else_says_why_not(monkeypatch: pytest.MonkeyPatch) -> None:
    seal_of("bwrap")
    assert best_seal().whole
    assert best_seal().why == ""
    monkeypatch.setattr("runs.bubblewrap.find", lambda: iter([Path("/no/bwrap")]))
    best_seal.cache_clear()
    try:
        second = best_seal()
    finally:
        best_seal.cache_clear()
    assert second.by == "minder"
    assert not second.files
    assert "files" in second.why
    assert "/no/bwrap" in second.why


def test_it_names_what_an_interpreter_needs_and_nothing_of_the_system(tmp_path: Path) -> None:
    node = tmp_path / "versions" / "node" / "v22" / "bin" / "node"
    node.parent.mkdir(parents=True)
    node.touch()
    link = tmp_path / "bin" / "node"
    link.parent.mkdir()
    link.symlink_to(node)
    assert folders_of(link) == [tmp_path / "versions" / "node" / "v22"]
    assert folders_of(Path("/usr/bin/env")) == []


@pytest.mark.parametrize(
    ("first", "interpreter"),
    [
        (b"#!/opt/py/bin/python -I", Path("/opt/py/bin/python")),
        (b"#! /usr/bin/perl", Path("/usr/bin/perl")),
        (b"#!/usr/bin/env python3", None),
        (b"\x7fELF", None),
        (b"#!", None),
        (b"", None),
    ],
)
def test_a_script_names_its_interpreter(
    tmp_path: Path, first: bytes, interpreter: Path | None
) -> None:
    script = tmp_path / "script"
    script.write_bytes(first + b"\nmore\n")
    assert interpreter_of(script) == interpreter
    venv = tmp_path / "venv"
    (venv / "bin").mkdir(parents=True)
    (venv / "pyvenv.cfg").write_text("home = /usr/bin\n")
    (venv / "bin" / "python").symlink_to("/usr/bin/env")
    assert folders_of(venv / "bin" / "python") == [venv]
