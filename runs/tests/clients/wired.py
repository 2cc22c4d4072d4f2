"""Plays our own client against the stand-in, over real pipes, and gathers what came of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from fakes.codex_app_server.harness import Harness, install
from runs.core.owner_log import Story, tell
from runs.drivers.client.talk import PROOF, RUN, Client

SECRET = "a-proof-that-nobody-sees"
PATIENCE = 25.0


class Pipe:
    """A process of the stand-in."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process

    async def send(self, line: bytes) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line + b"\n")
        try:
            await self._process.stdin.drain()
        except ConnectionError:
            pass

    async def line(self) -> bytes:
        assert self._process.stdout is not None
        return await self._process.stdout.readline()


class Wired:
    """One play's evidence: the owner's records and the stand-in's transcript."""

    def __init__(self, rows: list[dict[str, Any]], fake: Harness, snapshot: str) -> None:
        self.rows, self.fake, self.snapshot = rows, fake, snapshot
        self.story: Story = tell(rows)

    def of(self, what: str) -> list[dict[str, Any]]:
        return [row for row in self.rows if row["what"] == what]

    def facts(self) -> dict[str, Any]:
        """Everything that a play can expect, by name."""
        story, result = self.story, dict(self.story.result)
        turns = list(story.turns)
        sent = [m["params"] for m in self.fake.requests("turn/start") if not m["params"]["input"]]
        stops = [m["params"]["turnId"] for m in self.fake.requests("turn/interrupt")]
        return {
            **{key: result.get(key) for key in ("text", "exit_code", "stopped", "why")},
            "continuations": len(sent),
            "runs": sorted({one["responsesapiClientMetadata"][RUN] for one in sent}),
            "proofs": {one["responsesapiClientMetadata"][PROOF] for one in sent} <= {SECRET},
            "interrupts": [turns.index(t) + 1 if t in turns else 0 for t in stops],
            "retired": story.retired,
            "retires": len(self.of("retire")),
            "emits": [row["text"] for row in self.of("emit")],
            "shown": [row["text"] for row in self.of("show")],
            "void": [one["void"] for one in story.attempts.values()],
            "acknowledged": [one["acknowledged"] for one in story.attempts.values()],
            "children": len(story.children),
            "results": story.results,
            "closes": len(self.of("close")),
            "outcome": story.outcome,
            "reads": len(self.fake.requests("thread/read")),
            "secret": SECRET in self.snapshot,
        }


async def wire(
    folder: Path, play: Mapping[str, Any], breaks: str = "", patience: float = PATIENCE
) -> Wired:
    """Run the client on a play; `breaks` is the rule that its owner does not keep.

    TimeoutError when it has no result after `patience` seconds.
    """
    fake = install(folder)
    fake.set_scenario(play["scenario"])
    process = await asyncio.create_subprocess_exec(
        str(fake.codex), "app-server",
        stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE,
    )  # fmt: skip
    rows: list[dict[str, Any]] = []
    snapshots: list[str] = []

    def note(row: dict[str, Any]) -> None:
        rows.append(row)
        assert client.owner is not None
        snapshots.append(json.dumps(client.owner.snapshot()))

    client = Client(
        Pipe(process), note, prompt="Go.", work=str(folder), proof=SECRET, breaks=breaks,
        operator=play["operator"], clocks=play["clocks"],
    )  # fmt: skip
    try:
        await asyncio.wait_for(client.run(), patience)
    finally:
        if process.stdin is not None:
            process.stdin.close()
        await process.wait()
    return Wired(rows, fake, "".join(snapshots))
