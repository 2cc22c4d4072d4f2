"""Clients of Codex's app-server: our own, and any command that the operator registered.

Ours is an owner that waits for its children, or breaks a rule. The stand-in is the process of
its run; it talks to that as a driver does, under the orders of the play's operator. What the
owner decides is kept beside the wire as ``owner.jsonl``.

A registered command is itself the process: it finds the stand-in as the ``codex`` on its PATH
and gets the prompt as its last argument.
"""

from __future__ import annotations

import json
import time
from collections.abc import Awaitable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from fakes.dialect import ModelRequest, ToolCall
from fakes.script import Child, Task
from runs import clients
from runs.core.events import Draft, Kind
from runs.core.history import History
from runs.core.owner_log import FILE
from runs.driver import (
    Binary,
    Context,
    Conversation,
    Driver,
    Emit,
    Launch,
    Package,
    Runtime,
    Source,
)
from runs.drivers._log import Silent, printed
from runs.drivers.client.talk import Client
from runs.errors import HarnessError
from runs.option import Option
from runs.seal import folders_of, interpreter_of

VERSION = "1.0.0"
RULES = tuple(f"CL-{number}" for number in range(1, 39))


class AppServerClient(Driver):
    """One owner on one thread, or somebody's command."""

    name: ClassVar[str] = "client"
    title: ClassVar[str] = "Client of Codex's app-server"
    package: ClassVar[Package] = Package("builtin", "fakes.codex_app_server")
    registers: ClassVar[bool] = True
    oldest: ClassVar[str] = VERSION
    dialects: ClassVar[tuple[str, ...]] = ("responses",)
    allowed_tools: ClassVar[frozenset[str]] = frozenset(
        {"spawnAgent", "wait", "closeAgent", "sendInput", "commandExecution", "spawn_agent"}
    )
    overhead_mib: ClassVar[int] = 64
    options: ClassVar[tuple[Option, ...]] = (
        *clients.options("child-outlives"),
        Option(
            "breaks",
            "choice",
            "none",
            "The one rule of a waiting parent that it does not keep.",
            ("none", *RULES),
        ),
    )
    observes: ClassVar[Mapping[str, str]] = {
        "L4": "the conversation with the stand-in against the owner's own end",
        "L16": "whether the parent's turn had ended",
    }
    only_named: ClassVar[str] = "no model is asked: the stand-in plays what one would do"

    def published(self) -> list[tuple[str, str]]:
        """There is one."""
        return [(VERSION, "2026-11-29")]

    def executable(self, folder: Path) -> Path:
        """The stand-in's first file; it is run by our own Python."""
        path = folder / "fakes" / "codex_app_server" / "__main__.py"
        if not path.is_file():
            raise HarnessError(f"There is no stand-in in {folder}.", "Install again.")
        return path

    def readonly(self, binary: Binary) -> tuple[Path, ...]:
        """The stand-in's package and the Python that runs it; what runs a registered command."""
        with_what = interpreter_of(binary.path) if binary.registered else None
        return (*clients.readonly(), *(folders_of(with_what) if with_what else ()))

    def launch(self, context: Context) -> Launch:
        """The stand-in as an app-server; a registered command with the stand-in on its PATH."""
        if context.binary.registered:
            return Launch(
                argv=(str(context.binary.path), context.prompt),
                env={"PATH": clients.path(context), "NO_COLOR": "1"},
                files=clients.files(context),
            )
        return Launch(
            argv=(*clients.command(context), "app-server"),
            env={},
            files=clients.files(context),
            stdin="pipe",
        )

    def sources(self, context: Context) -> Iterable[Source]:
        """The stand-in's transcript; our own client's standard output has the same messages."""
        reader = printed if context.binary.registered else Silent
        yield Source(name="stdout", reader=reader, stream="stdout")
        yield clients.source()

    def converse(
        self, context: Context, conversation: Conversation, emit: Emit
    ) -> Awaitable[None] | None:
        """Own the parent's turn until its one result; a registered command does as it likes."""
        return None if context.binary.registered else _own(context, conversation, emit)

    def tools(self, options: Mapping[str, Any], version: str) -> _NoTools:
        """No model is asked."""
        return _NoTools()

    def runtime(self, history: History, binary: Binary) -> Runtime:
        """Nobody else's: it comes with Lifeline, or lies where the operator said."""
        return Runtime(version=binary.version, payload=binary.version)


async def _own(context: Context, conversation: Conversation, emit: Emit) -> None:
    play = clients.play_of(context)
    line = 0

    def note(row: dict[str, Any]) -> None:
        nonlocal line
        line += 1
        raw = json.dumps({"t": time.time(), **row}, separators=(",", ":")).encode()
        emit(
            Draft(
                kind=Kind.PHASE, source="harness", file=FILE, line=line, at=time.time(),
                native=str(row["what"]), data={"phase": "owner", "detail": row},
            ),
            raw,
        )  # fmt: skip

    breaks = str(context.options["breaks"])
    client = Client(
        conversation, note, prompt=context.prompt, work=str(context.work),
        breaks="" if breaks == "none" else breaks, operator=play.operator, clocks=play.clocks,
    )  # fmt: skip
    result = await client.run()
    if result is None or client.owner is None:
        return
    if result.exit_code != 0 or (result.stopped and client.owner.open_children):
        # Who says that it gave up, or stops a turn alone, leaves what still runs to itself; that
        # it ends now is our doing.
        emit(
            Draft(
                kind=Kind.CANCEL_REQUESTED, source="harness", file="harness", at=time.time(),
                data={"target": "root", "by": "harness", "raw": "the connection is closed"},
            )
        )  # fmt: skip


class _NoTools:
    """The stand-in plays what a model would ask for."""

    def delegate(self, task: Task) -> ToolCall:
        """As Codex names it."""
        return ToolCall("spawn_agent", {"message": task.prompt})

    def wait(self, child: Child) -> ToolCall | None:
        """Not asked for."""
        return None

    poll = cancel = wait

    def message(self, child: Child, text: str) -> ToolCall | None:
        """Not asked for."""
        return None

    def work(self, form: str) -> ToolCall | None:
        """Not asked for."""
        return None

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Nobody asks."""
        return {}


DRIVER = AppServerClient()
