"""Gemini CLI from 0.53 on: its package, command line, settings, files and tools."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from runs import node
from runs.core.events import Kind
from runs.core.history import History
from runs.driver import Binary, Context, Driver, Launch, Package, Runtime, Source
from runs.drivers.gemini.about import NOT_APPLICABLE, OBSERVES, OPTIONS
from runs.drivers.gemini.evidence import Children, LiveChat, LiveStdout
from runs.drivers.gemini.tools import EVERYTHING, Tools
from runs.errors import VersionCannotRun
from runs.option import LEAVE, Option

PROGRAM = Path("node_modules/@google/gemini-cli/bundle/gemini.js")
_VERSION = re.compile(r"GeminiCLI[\w-]{0,20}/(\d[\w.+-]{0,60})/")


class Gemini(Driver):
    """One prompt, headless, JSON lines on standard output."""

    name: ClassVar[str] = "gemini"
    title: ClassVar[str] = "Gemini CLI"
    package: ClassVar[Package] = Package("npm", "@google/gemini-cli", extra=node.package("22.23.5"))
    oldest: ClassVar[str] = "0.53.0"
    dialects: ClassVar[tuple[str, ...]] = ("generate_content",)
    allowed_tools: ClassVar[frozenset[str]] = EVERYTHING
    overhead_mib: ClassVar[int] = 768
    options: ClassVar[tuple[Option, ...]] = OPTIONS
    observes: ClassVar[Mapping[str, str]] = OBSERVES
    not_applicable: ClassVar[Mapping[str, str]] = NOT_APPLICABLE

    def executable(self, folder: Path) -> Path:
        """Its program, which Node runs."""
        path = folder / PROGRAM
        if not path.is_file():
            raise VersionCannotRun(
                "This version of Gemini CLI has no bundle in its package.",
                "Choose another version.",
            )
        return path

    def launch(self, context: Context) -> Launch:
        """Its headless form, every tool approved."""
        argv = (
            *(*node.command(context.binary.folder, context.binary.path), "-p", context.prompt),
            *("--output-format", "stream-json", "--approval-mode", "yolo"),
            *("-m", str(context.options["model"])),
        )
        env = {
            "GOOGLE_GEMINI_BASE_URL": context.base_url,
            "GEMINI_API_KEY": "dummy",
            "GEMINI_CLI_TRUST_WORKSPACE": "true",
            "GEMINI_CLI_NO_RELAUNCH": "true",
            "GEMINI_TELEMETRY_ENABLED": "false",
            "NO_COLOR": "1",
        }
        place = context.home / ".gemini" / "settings.json"
        return Launch(argv=argv, env=env, files={place: json.dumps(settings(context), indent=1)})

    def sources(self, context: Context) -> Iterable[Source]:
        """The stream, the root's file, each sub-agent's file."""
        children = Children()
        chats = "home/.gemini/tmp/*/chats"
        yield Source(name="stdout", reader=lambda file: LiveStdout(file, children), stream="stdout")
        for glob in (f"{chats}/*.jsonl", f"{chats}/*/*.jsonl"):
            yield Source(name="session", reader=lambda file: LiveChat(file, children), glob=glob)

    def tools(self, options: Mapping[str, Any], version: str) -> Tools:
        """The same for every version."""
        return Tools(str(options["agent_type"]))

    def runtime(self, history: History, binary: Binary) -> Runtime:
        """The version that it tells its provider; it writes it down nowhere."""
        for event in history.of(Kind.REQUEST_RECEIVED):
            headers = event.get("headers")
            told = headers.get("user-agent", "") if isinstance(headers, Mapping) else ""
            found = _VERSION.match(str(told))
            if found:
                return Runtime(version=found[1], payload=found[1])
        return Runtime(problem="nothing says which version ran")


def settings(context: Context) -> dict[str, Any]:
    """Its ``settings.json``: the key of the environment, and nothing that phones home."""
    general: dict[str, Any] = {"enableAutoUpdate": False, "enableAutoUpdateNotification": False}
    if context.options["max_attempts"] != LEAVE:
        general["maxAttempts"] = context.options["max_attempts"]
    return {
        "general": general,
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
    }


DRIVER = Gemini()
