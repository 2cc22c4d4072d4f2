"""Claude Code, any version from 2.1.117 on: its package, command line, files, hooks and tools.

The executable is proprietary: it is installed from its own package at the user's
request and never redistributed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from fakes.dialect import ModelRequest
from fakes.targeting import CallerRule, Identity, by_markers
from runs import platforms
from runs.driver import Context, Driver, Launch, Package, Source
from runs.drivers._log import Log
from runs.drivers.claude.about import (
    NOT_APPLICABLE,
    NOT_APPLICABLE_BEFORE,
    OBSERVES,
    OPTIONS,
)
from runs.drivers.claude.evidence import LiveSubagent, settings
from runs.drivers.claude.tools import EVERYTHING, Tools
from runs.errors import VersionCannotRun
from runs.option import LEAVE, Option
from runs.transcript import named
from runs.versions import release

CONFIG = ".claude"
AGENT_ID = "x-claude-code-agent-id"
SPAWNS = ("Task", "Agent", "SendMessage", "TaskStop", "TaskOutput")


class Claude(Driver):
    """One prompt, headless, JSON lines on standard output."""

    name: ClassVar[str] = "claude"
    title: ClassVar[str] = "Claude Code"
    package: ClassVar[Package] = Package(
        "npm",
        "@anthropic-ai/claude-code",
        platform="@anthropic-ai/claude-code-{platform}@{version}",
    )
    oldest: ClassVar[str] = "2.1.117"
    dialects: ClassVar[tuple[str, ...]] = ("messages",)
    allowed_tools: ClassVar[frozenset[str]] = EVERYTHING
    overhead_mib: ClassVar[int] = 512
    options: ClassVar[tuple[Option, ...]] = OPTIONS
    observes: ClassVar[Mapping[str, str]] = OBSERVES
    not_applicable: ClassVar[Mapping[str, str]] = NOT_APPLICABLE
    not_applicable_before: ClassVar[Mapping[str, Mapping[str, str]]] = NOT_APPLICABLE_BEFORE

    def executable(self, folder: Path) -> Path:
        """The native program of this platform's own package."""
        place = f"claude-code-{_platform()}"
        path = folder / "node_modules" / "@anthropic-ai" / place / "claude"
        if not path.is_file():
            raise VersionCannotRun(
                f"This version of Claude Code has no package for this platform ({_platform()}).",
                "Choose another version.",
            )
        return path

    def launch(self, context: Context) -> Launch:
        """Its headless form; the prompt stands before the lists of tools."""
        options = context.options
        allowed = [*SPAWNS, *(["Bash"] if options["permissions"] == "allow" else [])]
        argv = [
            *(str(context.binary.path), "-p", context.prompt),
            *("--output-format", "stream-json", "--verbose"),
            *("--model", str(options["model"])),
            *("--allowedTools", ",".join(allowed)),
        ]
        files: dict[Path, str] = {}
        if options["hooks"]:
            files[context.home / CONFIG / "settings.json"] = settings(context.logs / "hooks.jsonl")
        return Launch(argv=tuple(argv), env=_environment(context), files=files)

    def sources(self, context: Context) -> Iterable[Source]:
        """The stream, the log, the root's file, each sub-agent's file, the hooks."""
        projects = f"home/{CONFIG}/projects/*"
        yield Source(name="stdout", reader=named("claude-stream-json").reader, stream="stdout")
        yield Source(name="log", reader=Log, stream="stderr")
        yield Source(
            name="session",
            reader=named("claude-session-jsonl").reader,
            glob=f"{projects}/*.jsonl",
        )
        yield Source(
            name="session", reader=LiveSubagent, glob=f"{projects}/*/subagents/agent-*.jsonl"
        )
        yield Source(
            name="hooks", reader=named("claude-hook-payloads").reader, glob="logs/hooks.jsonl"
        )

    def tools(self, options: Mapping[str, Any], version: str) -> Tools:
        """By version."""
        return Tools(release(version), str(options["background"]), str(options["agent_type"]))

    def caller_rule(self, options: Mapping[str, Any], version: str) -> CallerRule:
        """By the agent that newer versions name in a header; else by the markers."""
        return by_header


def by_header(request: ModelRequest) -> Identity | None:
    """A sub-agent's requests name it; how deep it is the marker of its task says."""
    agent = request.headers.get(AGENT_ID, "")
    if not agent or len(agent) > 80:
        return None
    marked = by_markers(request)
    return Identity(max(1, marked.depth), agent, marked.parent)


def _environment(context: Context) -> dict[str, str]:
    """A dummy key for a loopback provider, and everything off that reports or updates."""
    options = context.options
    env = {
        "ANTHROPIC_BASE_URL": context.base_url,
        "ANTHROPIC_API_KEY": "dummy",
        "CLAUDE_CONFIG_DIR": str(context.home / CONFIG),
        "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
        "DISABLE_AUTOUPDATER": "1",
        "DISABLE_TELEMETRY": "1",
        "DISABLE_ERROR_REPORTING": "1",
        "DISABLE_BUG_COMMAND": "1",
        "NO_COLOR": "1",
    }
    if options["max_retries"] != LEAVE:
        env["CLAUDE_CODE_MAX_RETRIES"] = str(options["max_retries"])
    if not options["fallback"]:
        env["CLAUDE_CODE_DISABLE_NONSTREAMING_FALLBACK"] = "1"
    if options["background"] == "off":
        env["CLAUDE_CODE_DISABLE_BACKGROUND_TASKS"] = "1"
    if options["stream_idle_timeout_ms"] != LEAVE:
        # Newer versions take five minutes at least for a stream without events, but any time
        # for one without bytes.
        for what, idle in (("STREAM", "STREAM_IDLE"), ("BYTE", "BYTE_STREAM_IDLE")):
            env[f"CLAUDE_ENABLE_{what}_WATCHDOG"] = "1"
            env[f"CLAUDE_{idle}_TIMEOUT_MS"] = str(options["stream_idle_timeout_ms"])
    if options["agent_stall_timeout_ms"] != LEAVE:
        env["CLAUDE_ASYNC_AGENT_STALL_TIMEOUT_MS"] = str(options["agent_stall_timeout_ms"])
    return env


def _platform() -> str:
    """This machine in the words of the package's names: ``linux-x64``, ``linux-arm64-musl``."""
    return platforms.here() + ("-musl" if platforms.musl() else "")


DRIVER = Claude()
