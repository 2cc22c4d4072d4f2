"""Hermes: its package, and one prompt on its command line, by its own models or through Codex.

With ``api_mode = "codex_app_server"`` it is a client of Codex's app-server; a stand-in is its
``codex`` then, and the run is a client run (:mod:`runs.clients`).
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from runs import clients
from runs.core.events import Kind
from runs.core.history import History
from runs.driver import Binary, Context, Driver, Launch, Option, Package, Runtime, Source
from runs.drivers.hermes.app_server import CLIENT, client_launch, client_sources
from runs.drivers.hermes.tools import EVERYTHING, Tools
from runs.errors import CannotRunHere

HOME = ".hermes"


class Hermes(Driver):
    """One prompt, ``hermes -z``."""

    name: ClassVar[str] = "hermes"
    title: ClassVar[str] = "Hermes"
    package: ClassVar[Package] = Package("pypi", "hermes-agent")
    oldest: ClassVar[str] = "0.16.0"
    dialects: ClassVar[tuple[str, ...]] = ("chat_completions",)
    allowed_tools: ClassVar[frozenset[str]] = EVERYTHING
    overhead_mib: ClassVar[int] = 384
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "api_mode",
            "choice",
            "chat_completions",
            "How it reaches its model: by itself, or as a client of Codex's app-server.",
            ("chat_completions", CLIENT),
        ),
        *clients.options("child-first"),
    )
    observes: ClassVar[Mapping[str, str]] = {
        "L4": "as a client: the conversation with the app-server against its own end",
        "L6": "the provider's journal",
        "L16": "the exit code; as a client: whether the parent's turn had ended",
    }

    def executable(self, folder: Path) -> Path:
        """The command in its environment."""
        path = folder / "venv" / "bin" / "hermes"
        if not path.is_file():
            raise CannotRunHere("This version of Hermes has no command.", "Choose another one.")
        return path

    def readonly(self, binary: Binary) -> tuple[Path, ...]:
        """The interpreter that its environment is made of, and the stand-in for Codex."""
        return (Path(sys.base_prefix).resolve(), *clients.readonly())

    def launch(self, context: Context) -> Launch:
        """One prompt in one of the two modes."""
        if _is_client(context.options):
            return client_launch(context, context.home / HOME)
        config = "\n".join(
            (
                "model:",
                "  provider: custom",
                f"  base_url: {context.base_url}/v1",
                "  api_key: dummy",
                f"  default: {context.model}",
                "  api_mode: chat_completions",
                "",
            )
        )
        return Launch(
            argv=(str(context.binary.path), "-z", context.prompt),
            env={"HERMES_HOME": str(context.home / HOME), "NO_COLOR": "1"},
            files={context.home / HOME / "config.yaml": config},
        )

    def sources(self, context: Context) -> Iterable[Source]:
        """What it prints; as a client also its conversation with the app-server."""
        if _is_client(context.options):
            yield from client_sources()
            return
        yield Source(name="stdout", reader=clients.Answer, stream="stdout")

    def tools(self, options: Mapping[str, Any], version: str) -> Tools:
        """The same for every version."""
        return Tools()

    def runtime(self, history: History, binary: Binary) -> Runtime:
        """As a client it introduces itself; its command line says nothing."""
        version = clients.reported(history)
        if not version and history.of(Kind.REQUEST_RECEIVED):
            version = binary.version
        return Runtime(version=version, payload=version)


def _is_client(options: Mapping[str, Any]) -> bool:
    return options["api_mode"] == CLIENT


DRIVER = Hermes()
