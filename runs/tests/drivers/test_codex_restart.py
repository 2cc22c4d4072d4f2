"""Codex's app-server killed and started again: the shell that keeps it, the moment, the client."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from runs.core.events import Kind
from runs.drivers.codex import DRIVER
from runs.drivers.codex.restart import KEEPER, KILLED, MOMENTS, ORDER, Moment
from runs.drivers.codex.talk import GO_ON, Client
from runs.drivers.codex.wire import Wire
from runs.tests.drivers.conftest import MakeContext
from runs.tests.drivers.test_codex_talk import Server, turn
from runs.tests.drivers.test_codex_wire import CHILD, ROOT, Kept

DELTA = "item/agentMessage/delta"


def _delta(thread: str) -> dict[str, Any]:
    return {"method": DELTA, "params": {"threadId": thread, "itemId": "m", "delta": "x"}}


def test_only_a_run_that_is_to_be_killed_has_a_keeper(make_context: MakeContext) -> None:
    launch = DRIVER.launch(make_context(DRIVER, restart="child-running"))
    assert launch.argv[:3] == ("/bin/sh", "-c", KEEPER) and launch.stdin == "pipe"
    assert DRIVER.launch(make_context(DRIVER)).argv[1:] == ("app-server",)


def test_the_keeper_kills_as_it_is_told_starts_the_next_one_and_hands_on_the_rest(
    tmp_path: Path,
) -> None:
    program = tmp_path / "codex"
    loop = "while IFS= read -r line; do printf '%s %s %s\\n' $$ $1 \"$line\"; done"
    program.write_text(f"#!/bin/sh\n{loop}\nexit 7\n")
    program.chmod(0o755)
    keeper = subprocess.Popen(
        ["/bin/sh", "-c", KEEPER, str(program)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )
    assert keeper.stdin is not None and keeper.stdout is not None
    said = []
    for line in (rb'{"a":"\n"}', ORDER, b"{}"):
        keeper.stdin.write(line + b"\n")
        keeper.stdin.flush()
        said.append(keeper.stdout.readline().decode())
    keeper.stdin.close()
    assert keeper.wait(10) == 7
    first, killed, second = said
    assert first.split(" ", 1)[1] == 'app-server {"a":"\\n"}\n'
    pid = int(first.split()[0])
    assert json.loads(killed) == {"method": KILLED, "params": {"pid": pid, "signal": 9}}
    assert second.endswith(" app-server {}\n") and int(second.split()[0]) != pid


@pytest.mark.parametrize(
    ("word", "place"),
    [("never", None), ("child-running", 1), ("child-ended", 2), ("child-told", 4)],
)
def test_it_knows_each_moment_and_only_once(word: str, place: int | None) -> None:
    moment = Moment(word, ROOT)
    said = [_delta(ROOT), _delta(CHILD), turn("turn/completed", CHILD)]
    said += [{"id": 1, "result": {}}, _delta(ROOT), _delta(CHILD), turn("turn/completed", CHILD)]
    found = [number for number, message in enumerate(said) if moment.is_now(message)]
    assert found == ([] if place is None else [place])
    assert word == "never" or word in MOMENTS


class Mortal(Server):
    """An app-server that is killed when its keeper is told so; the next one is silent."""

    async def send(self, line: bytes) -> None:
        await super().send(line)
        if line == ORDER:
            told = {"method": KILLED, "params": {"pid": 5, "signal": 9}}
            self._waiting = [json.dumps(told).encode() + b"\n"]
            self._said = [turn("turn/started", ROOT), turn("turn/completed", ROOT)]


@pytest.mark.asyncio
async def test_it_reads_what_is_stored_resumes_the_parent_and_goes_on(
    make_context: MakeContext,
) -> None:
    said = [turn("turn/started", ROOT), turn("turn/started", CHILD), _delta(CHILD)]
    server, kept = Mortal(said), Kept()
    context = make_context(DRIVER, restart="child-running")
    await Client(context, server, Wire(kept, None)).run()
    asked = [one.get("method") for one in server.sent]
    after = asked[asked.index("lifeline/kill") + 1 :]
    assert after == [
        *("initialize", "initialized", "thread/read", "thread/read", "thread/resume", "turn/start")
    ]
    read = [one["params"]["threadId"] for one in server.sent if one.get("method") == "thread/read"]
    assert read == [ROOT, CHILD]
    assert server.sent[-1]["params"]["input"][0]["text"] == GO_ON
    parts = [(one.data["part"], one.data["status"]) for one in kept.of(Kind.PART)]
    assert parts == [("app-server", "killed"), ("app-server", "online")]
