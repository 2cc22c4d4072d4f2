"""Codex, any version from 0.120 on: its package, two ways to run it, its logs and its tools.

``app-server`` (the default) is talked to over its standard streams; ``exec`` runs one
prompt and prints JSON lines.
"""

from __future__ import annotations

from collections.abc import Awaitable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from fakes.targeting import CallerRule
from runs import platforms
from runs.core.drift import Description
from runs.driver import Binary, Context, Conversation, Driver, Emit, Launch, Package, Say, Source
from runs.drivers._log import Log, Silent
from runs.drivers.codex.about import NOT_APPLICABLE, NOT_APPLICABLE_WITH, OBSERVES, OPTIONS
from runs.drivers.codex.callers import Threads
from runs.drivers.codex.config import config
from runs.drivers.codex.describe import of_version, shipped
from runs.drivers.codex.protocol import protocol_of
from runs.drivers.codex.restart import KEEPER, NEVER
from runs.drivers.codex.rollouts import LiveRollout
from runs.drivers.codex.talk import Client
from runs.drivers.codex.tools import EVERYTHING, Tools
from runs.drivers.codex.wire import Wire
from runs.errors import VersionCannotRun
from runs.option import Option
from runs.sealed import rehearse
from runs.transcript import named
from runs.versions import release

HOME = ".codex"
SCHEMA = "protocol"
ROLLOUTS = f"home/{HOME}/sessions/*/*/*/rollout-*.jsonl"
_WRITE_SCHEMA = (
    'exec "$0" app-server generate-json-schema --experimental --out "$HOME/' + SCHEMA + '"'
)


class Codex(Driver):
    """One prompt, with everything allowed and nothing outside to reach."""

    name: ClassVar[str] = "codex"
    title: ClassVar[str] = "Codex CLI"
    package: ClassVar[Package] = Package(
        "npm", "@openai/codex", platform="@openai/codex@{version}-{platform}"
    )
    oldest: ClassVar[str] = "0.120.0"
    dialects: ClassVar[tuple[str, ...]] = ("responses",)
    alone: ClassVar[Mapping[str, Any]] = {"form": "exec"}
    allowed_tools: ClassVar[frozenset[str]] = EVERYTHING
    overhead_mib: ClassVar[int] = 256
    options: ClassVar[tuple[Option, ...]] = OPTIONS
    observes: ClassVar[Mapping[str, str]] = OBSERVES
    not_applicable: ClassVar[Mapping[str, str]] = NOT_APPLICABLE
    not_applicable_with: ClassVar[Mapping[tuple[str, str], Mapping[str, str]]] = NOT_APPLICABLE_WITH

    def executable(self, folder: Path) -> Path:
        """The native program of this platform's own package."""
        place = folder / "node_modules" / "@openai" / f"codex-{platforms.here()}" / "vendor"
        found = [*place.glob("*/bin/codex"), *place.glob("*/codex/codex")]
        if not found:
            raise VersionCannotRun(
                f"This version of Codex has no package for this platform ({platforms.here()}).",
                "Choose another version.",
            )
        return found[0]

    def needs_prepare(self) -> bool:
        """Each version describes its own protocol."""
        return True

    def prepare(self, binary: Binary, folder: Path, say: Say) -> None:
        """Have it write the schemas of its app-server's protocol."""
        done = rehearse(
            ("/bin/sh", "-c", _WRITE_SCHEMA, str(binary.path)),
            {"CODEX_HOME": f"{{home}}/{SCHEMA}"},
            readonly=(binary.folder,),
            keep=SCHEMA,
            into=folder,
        )
        if done.code != 0 or not (folder / "ServerNotification.json").is_file():
            raise VersionCannotRun(
                f"codex@{binary.version} does not start (exit {done.code}): "
                f"{done.output.strip()[-300:] or 'it says nothing'}",
                "Choose another version.",
            )

    def launch(self, context: Context) -> Launch:
        """The app-server on its standard streams, or one prompt on the command line."""
        home = context.home / HOME
        program = str(context.binary.path)
        talks = _talks(context.options)
        if talks and context.options["restart"] != NEVER:
            argv = ["/bin/sh", "-c", KEEPER, program]
        elif talks:
            argv = [program, "app-server"]
        else:
            argv = [program, "exec", "--json", "--skip-git-repo-check", context.prompt]
        return Launch(
            argv=tuple(argv),
            env={"CODEX_HOME": str(home), "NO_COLOR": "1", "RUST_LOG": "error"},
            files={home / "config.toml": _config(context)},
            stdin="pipe" if talks else "none",
        )

    def sources(self, context: Context) -> Iterable[Source]:
        """Standard output and error, the rollout of every thread, and the limits in force.

        The app-server's standard output is read by the conversation, with what was sent.
        """
        paths: dict[str, str] = {}
        reader = Silent if _talks(context.options) else named("codex-exec-json").reader
        yield Source(name="stdout", reader=reader, stream="stdout")
        yield Source(name="log", reader=Log, stream="stderr")
        yield Source(name="session", reader=lambda file: LiveRollout(file, paths), glob=ROLLOUTS)
        settings = named("codex-config").reader
        yield Source(name="config", reader=settings, glob=f"home/{HOME}/config.toml", late=True)

    def converse(
        self, context: Context, conversation: Conversation, emit: Emit
    ) -> Awaitable[None] | None:
        """Talk to an app-server; ``exec`` runs by its command line."""
        if not _talks(context.options):
            return None
        return _converse(context, conversation, emit)

    def tools(self, options: Mapping[str, Any], version: str) -> Tools:
        """By version and generation."""
        asks = options["permissions"] == "ask"
        return Tools(release(version), str(options["multi_agent"]), int(options["wait_ms"]), asks)

    def caller_rule(self, options: Mapping[str, Any], version: str) -> CallerRule:
        """By the threads that a request's headers name."""
        return Threads()

    def describe(self, version: str, prepared: Path | None) -> Description | None:
        """The app-server's protocol, from the installed bundle or as shipped."""
        return of_version(version, prepared)

    def described(self) -> Sequence[str]:
        """The versions whose condensed protocol is shipped."""
        return shipped()


async def _converse(context: Context, conversation: Conversation, emit: Emit) -> None:
    prepared = context.binary.prepared
    wire = Wire(emit, protocol_of(prepared) if prepared is not None else None)
    try:
        await Client(context, conversation, wire).run()
    finally:
        wire.close()


def _config(context: Context) -> str:
    numbers = release(context.binary.version)
    return config(context.base_url, context.model, context.options, numbers)


def _talks(options: Mapping[str, Any]) -> bool:
    return str(options["form"]) == "app-server"


DRIVER = Codex()
