"""Qwen Code: one prompt on its command line, JSON lines on standard output."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from runs import node
from runs.driver import Context, Driver, Launch, Package, Source
from runs.drivers.qwen.tools import EVERYTHING, Tools
from runs.errors import VersionCannotRun
from runs.option import Option
from runs.transcript import named

ENTRY = Path("node_modules/@qwen-code/qwen-code/cli-entry.js")
_RESTART = "one prompt on its command line is one start; it is not started a second time"


class Qwen(Driver):
    """One prompt, ``qwen -p``."""

    name: ClassVar[str] = "qwen"
    title: ClassVar[str] = "Qwen Code"
    package: ClassVar[Package] = Package(
        "npm", "@qwen-code/qwen-code", extra=node.package("22.23.5")
    )
    oldest: ClassVar[str] = "0.23.4"
    dialects: ClassVar[tuple[str, ...]] = ("chat_completions",)
    allowed_tools: ClassVar[frozenset[str]] = EVERYTHING
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "retries",
            "int",
            -1,
            "How often the library below it tries a request again; it tries that several times "
            "itself. -1: its own number.",
        ),
        Option(
            "stream_idle",
            "float",
            5.0,
            "Seconds without a piece of a stream after which it gives it up; -1: its own.",
        ),
    )

    observes: ClassVar[Mapping[str, str]] = {
        "L1": "its stream's notification (the answer of a call in the foreground), and the "
        "sub-agent's description file",
        "L2": "the status of a sub-agent against the provider's journal",
        "L3": "the notification in its own record of the conversation, or the answer of the call",
        "L4": "its last result and its exit against its sub-agents",
        "L5": "the provider's journal and its stream",
        "L6": "the provider's journal; it announces a try without a number or a wait",
        "L7": "its tool that stops a sub-agent against the sub-agent's end",
        "L9": "notifications and answers name their sub-agent",
        "L10": "its last result and its exit against its sub-agents",
        "L11": "refused calls",
        "L12": "what a sub-agent's record and the provider's journal have after its end",
        "L13": "its stream against the sub-agent's description file",
        "L15": "the answer of the call against the provider's journal",
        "L16": "the exit code and its last result",
        "L18": "the model of each request; its tool that delegates asks for none",
    }
    not_applicable: ClassVar[Mapping[str, str]] = {
        "L8": _RESTART,
        "L14": "without a terminal it has to be told to permit everything",
        "L17": "it has no watchdog over sub-agents",
        "child-asks": "without a terminal it has to be told to permit everything",
        "other-model": "its tool that delegates takes no model",
        "restart-running": _RESTART,
        "restart-ended": _RESTART,
        "restart-told": _RESTART,
        "response-failed": "chat completions have no such event",
    }

    def executable(self, folder: Path) -> Path:
        """The program that its package names ``qwen``."""
        path = folder / ENTRY
        if not path.is_file():
            raise VersionCannotRun(
                "This version of Qwen Code has no command.", "Choose another one."
            )
        return path

    def launch(self, context: Context) -> Launch:
        """One prompt without a terminal."""
        idle = float(context.options["stream_idle"])
        retries = int(context.options["retries"])
        settings = {
            "model": {"generationConfig": {} if retries < 0 else {"maxRetries": retries}},
            "general": {"enableAutoUpdate": False, "disableAutoUpdate": True},
            "privacy": {"usageStatisticsEnabled": False},
            "telemetry": {"enabled": False},
        }
        return Launch(
            argv=(
                *node.command(context.binary.folder, context.binary.path),
                *("-p", context.prompt),
                *("--output-format", "stream-json", "--include-partial-messages"),
                *("--auth-type", "openai", "--approval-mode", "yolo"),
            ),
            env={
                "OPENAI_BASE_URL": f"{context.base_url}/v1",
                "OPENAI_API_KEY": "dummy",
                "OPENAI_MODEL": context.model,
                "QWEN_CODE_SUPPRESS_YOLO_WARNING": "1",
                "QWEN_CODE_NO_RELAUNCH": "1",
                **({} if idle < 0 else {"QWEN_STREAM_IDLE_TIMEOUT_MS": str(round(idle * 1000))}),
            },
            files={context.home / ".qwen" / "settings.json": json.dumps(settings, indent=1) + "\n"},
        )

    def sources(self, context: Context) -> Iterable[Source]:
        """What it prints, and the records of its session and of its sub-agents."""
        yield Source(name="stdout", reader=named("qwen-stream-json").reader, stream="stdout")
        yield Source(
            name="session",
            reader=named("qwen-chat-jsonl").reader,
            glob="home/.qwen/projects/*/chats/*.jsonl",
        )
        yield Source(
            name="session",
            reader=named("qwen-chat-jsonl").reader,
            glob="home/.qwen/projects/*/subagents/*/*.jsonl",
        )
        yield Source(
            name="session",
            reader=named("qwen-agent-meta").reader,
            glob="home/.qwen/projects/*/subagents/*/*.meta.json",
            late=True,
        )

    def tools(self, options: Mapping[str, Any], version: str) -> Tools:
        """The same for every version."""
        return Tools()


DRIVER = Qwen()
