"""Hermes: its package, and one prompt on its command line, by its own models or through Codex.

With ``api_mode = "codex_app_server"`` it is a client of Codex's app-server; a stand-in is its
``codex`` then, and the run is a client run (:mod:`runs.clients`).
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from runs import clients
from runs.core.events import Kind
from runs.core.history import History
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
from runs.drivers.hermes import chat, gateway
from runs.drivers.hermes.app_server import CLIENT, client_launch, client_sources
from runs.drivers.hermes.tools import EVERYTHING, Tools
from runs.errors import VersionCannotRun
from runs.option import Option

HOME = ".hermes"
_SPEAKS = "the driver hands over the operator's one prompt and says nothing more"
_PERMITS = "without a terminal it permits everything"
_RESTART = "it is not started a second time: its one-shot form has nothing to resume"


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
        *chat.OPTIONS,
        *clients.options("child-first"),
    )
    observes: ClassVar[Mapping[str, str]] = {
        "L1": "hooks, or the gateway's events; its database tells of an end and not how",
        "L2": "the status of a sub-agent against the provider's journal",
        "L3": "the answer of delegate_task, or the message that brings a late result",
        "L4": "its end against its sub-agents; as a client: against the app-server",
        "L5": "the provider's journal, and when its views last say anything",
        "L6": "the provider's journal; announced tries in its hooks",
        "L7": "our client's stop of a sub-agent; a model has no tool to cancel",
        "L9": "the call that an answer or a late result belongs to; it names no sub-agent",
        "L10": "whether its own turn goes on after a sub-agent failed",
        "L11": "calls of delegate_task that are refused, as for depth",
        "L12": "what a sub-agent stores or asks its model after its end",
        "L13": "hooks or gateway against its database",
        "L15": "the answer of delegate_task against the provider's journal",
        "L16": "the exit code; as a client: whether the parent's turn had ended",
        "L18": "the model of each request",
    }
    not_applicable: ClassVar[Mapping[str, str]] = {
        "L8": _RESTART,
        "L14": _PERMITS,
        "L17": "it tells of no watchdog over sub-agents",
        "cancel-child": "its model has no tool that stops a sub-agent",
        "follow-up": "its model has no tool that gives a sub-agent more work",
        "follow-up-cut": "its model has no tool that gives a sub-agent more work",
        "parent-polls": "its model has no tool that asks after a sub-agent",
        "child-asks": _PERMITS,
        "other-model": "delegate_task takes no model",
        "restart-running": _RESTART,
        "restart-ended": _RESTART,
        "restart-told": _RESTART,
        "restart-unread": _RESTART,
        "runner-gone": _RESTART,
        "message-to-child": _SPEAKS,
        "second-message": _SPEAKS,
        "interrupt-parent": "over its gateway its turn is over while a sub-agent works, and its "
        "one-shot form is told nothing",
        "setup-failure": "a sub-agent runs in its parent's process: nothing is set up for it",
        "response-failed": "chat completions have no such event",
    }
    not_applicable_with: ClassVar[Mapping[tuple[str, str], Mapping[str, str]]] = {
        ("form", "oneshot"): {
            "ends-together": "sub-agents that one turn asks for run one after the other"
        },
    }

    def executable(self, folder: Path) -> Path:
        """The command in its environment."""
        path = folder / "venv" / "bin" / "hermes"
        if not path.is_file():
            raise VersionCannotRun("This version of Hermes has no command.", "Choose another one.")
        return path

    def readonly(self, binary: Binary) -> tuple[Path, ...]:
        """The interpreter that its environment is made of, and the stand-in for Codex."""
        return (Path(sys.base_prefix).resolve(), *clients.readonly())

    def launch(self, context: Context) -> Launch:
        """One prompt in one of the two modes."""
        if _is_client(context.options):
            return client_launch(context, context.home / HOME)
        return chat.chat_launch(context, context.home / HOME)

    def sources(self, context: Context) -> Iterable[Source]:
        """What it prints; as a client also its conversation with the app-server."""
        if _is_client(context.options):
            yield from client_sources()
            return
        yield from chat.chat_sources(context)

    def converse(
        self, context: Context, conversation: Conversation, emit: Emit
    ) -> Awaitable[None] | None:
        """Its gateway is spoken to; its command line speaks for itself."""
        if _is_client(context.options) or not chat.is_gateway(context.options):
            return None
        return gateway.converse(context, conversation, emit)

    def tools(self, options: Mapping[str, Any], version: str) -> Tools:
        """The same for every version."""
        return Tools(nests=int(options["spawn_depth"]) > 1)

    def runtime(self, history: History, binary: Binary) -> Runtime:
        """Its package says it; as a client it introduces itself."""
        told = [str(event.get("version") or "") for event in history.of(Kind.RUNTIME)]
        version = next(filter(None, told), "")
        return Runtime(
            version=version,
            payload=version,
            problem="" if version else "nothing that it wrote names its version",
        )


def _is_client(options: Mapping[str, Any]) -> bool:
    return bool(options["api_mode"] == CLIENT)


DRIVER = Hermes()
