"""pi with the sub-agents of its own example extension: package, settings, sources and tools.

pi itself has no sub-agents. Its package brings an extension that gives it a tool for them,
each a process of its own; a run loads that extension out of the installed package, and a small
one of ours (``watch.js``) that notes what each process says of itself.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from runs import node
from runs.driver import Context, Driver, Launch, Package, Source
from runs.drivers.pi.about import APIS, NOT_APPLICABLE, NOT_APPLICABLE_WITH, OBSERVES, OPTIONS
from runs.drivers.pi.tools import AGENT, EVERYTHING, Tools
from runs.errors import VersionCannotRun
from runs.option import LEAVE, Option
from runs.transcript import named

PACKAGE = "@mariozechner/pi-coding-agent"
PROVIDER = "lifeline"
_AGENT = f"---\nname: {AGENT}\ndescription: Does one small task\n---\nYou do one small task.\n"


class Pi(Driver):
    """One prompt, headless, JSON lines on standard output."""

    name: ClassVar[str] = "pi"
    title: ClassVar[str] = "pi"
    package: ClassVar[Package] = Package("npm", PACKAGE, extra=node.package("22.23.5"))
    oldest: ClassVar[str] = "0.70.0"
    dialects: ClassVar[tuple[str, ...]] = tuple(APIS)
    allowed_tools: ClassVar[frozenset[str]] = EVERYTHING
    overhead_mib: ClassVar[int] = 768
    options: ClassVar[tuple[Option, ...]] = OPTIONS
    observes: ClassVar[Mapping[str, str]] = OBSERVES
    not_applicable: ClassVar[Mapping[str, str]] = NOT_APPLICABLE
    not_applicable_with: ClassVar[Mapping[tuple[str, str], Mapping[str, str]]] = NOT_APPLICABLE_WITH

    def executable(self, folder: Path) -> Path:
        """Its program, which Node runs."""
        path = folder / "node_modules" / PACKAGE / "dist" / "cli.js"
        if not path.is_file() or not _extension(path).is_dir():
            raise VersionCannotRun(
                "This version of pi has no program or no example of sub-agents in its package.",
                "Choose another version.",
            )
        return path

    def launch(self, context: Context) -> Launch:
        """Its headless form; provider, extensions and the one agent stand in files."""
        home, extensions = context.home / ".pi/agent", context.home / "lifeline"
        watch = Path(__file__).with_name("watch.js").read_text(encoding="utf-8")
        files = {
            home / "models.json": json.dumps(models(context), indent=1),
            home / "settings.json": json.dumps(settings(context, extensions), indent=1),
            home / "agents" / f"{AGENT}.md": _AGENT,
            extensions / "watch.js": watch,
        }
        env = {
            "PI_OFFLINE": "1",
            "PI_TELEMETRY": "0",
            "PI_SKIP_VERSION_CHECK": "1",
            "LIFELINE_NOTES": str(context.logs / "notes.jsonl"),
            "NO_COLOR": "1",
        }
        program = node.command(context.binary.folder, context.binary.path)
        argv = (*program, "--mode", "json", "-p", context.prompt)
        return Launch(argv=argv, env=env, files=files)

    def sources(self, context: Context) -> Iterable[Source]:
        """The stream, the root's session file, and what each process notes of itself."""
        yield Source(name="stdout", reader=named("pi-json").reader, stream="stdout")
        yield Source(
            name="session",
            reader=named("pi-session-jsonl").reader,
            glob="home/.pi/agent/sessions/*/*.jsonl",
        )
        yield Source(name="hooks", reader=named("pi-notes").reader, glob="logs/notes.jsonl")

    def tools(self, options: Mapping[str, Any], version: str) -> Tools:
        """The same for every version."""
        return Tools()


def models(context: Context) -> dict[str, Any]:
    """Its ``models.json``: one loopback provider with one model, and a dummy key."""
    # A client of the Messages dialect adds /v1 by itself.
    path = "" if context.dialect == "messages" else "/v1"
    provider = {
        "baseUrl": f"{context.base_url}{path}",
        "api": APIS[context.dialect],
        "apiKey": "dummy",
        "models": [{"id": context.model, "contextWindow": 200_000, "maxTokens": 8192}],
    }
    return {"providers": {PROVIDER: provider}}


def settings(context: Context, extensions: Path) -> dict[str, Any]:
    """Its ``settings.json``; sub-agents read it as well."""
    retry: dict[str, Any] = {}
    if context.options["max_retries"] != LEAVE:
        retry["maxRetries"] = context.options["max_retries"]
    if context.options["provider_retries"] != LEAVE:
        retry["provider"] = {"maxRetries": context.options["provider_retries"]}
    return {
        "defaultProvider": PROVIDER,
        "defaultModel": context.model,
        "enableInstallTelemetry": False,
        "extensions": [str(_extension(context.binary.path)), str(extensions / "watch.js")],
        "retry": retry,
    }


def _extension(program: Path) -> Path:
    """The example extension that starts sub-agents, beside the program."""
    return program.parent.parent / "examples" / "extensions" / "subagent"


DRIVER = Pi()
