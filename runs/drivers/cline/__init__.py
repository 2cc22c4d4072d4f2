"""Cline from 3.0.57 on: its package, command line, settings, stored sessions and tools.

Its sessions are stored in a database, so a small program of ours (``inside.py``) is the
started process: it starts the agent and, at the end, writes down what was stored. No switch
was found that keeps it from asking one host for feature flags: the seal records the attempt.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from runs import platforms, pythons
from runs.driver import Binary, Context, Driver, Launch, Package, Source
from runs.drivers.cline.about import NOT_APPLICABLE, NOT_APPLICABLE_WITH, OBSERVES, OPTIONS
from runs.drivers.cline.evidence import Children, LiveMessages, LiveStdout
from runs.drivers.cline.tools import EVERYTHING, TeamTools, Tools
from runs.errors import VersionCannotRun
from runs.option import Option
from runs.transcript import named

PROVIDER = "openai-compatible"
QUIET = {"telemetryOptOut": True, "autoUpdateEnabled": False}
"""Its settings for all sessions."""


class Cline(Driver):
    """One prompt, headless, JSON lines on standard output."""

    name: ClassVar[str] = "cline"
    title: ClassVar[str] = "Cline"
    package: ClassVar[Package] = Package("npm", "cline", platform="@cline/cli-{platform}@{version}")
    oldest: ClassVar[str] = "3.0.57"
    dialects: ClassVar[tuple[str, ...]] = ("chat_completions",)
    allowed_tools: ClassVar[frozenset[str]] = EVERYTHING
    overhead_mib: ClassVar[int] = 768
    options: ClassVar[tuple[Option, ...]] = OPTIONS
    observes: ClassVar[Mapping[str, str]] = OBSERVES
    not_applicable: ClassVar[Mapping[str, str]] = NOT_APPLICABLE
    not_applicable_with: ClassVar[Mapping[tuple[str, str], Mapping[str, str]]] = NOT_APPLICABLE_WITH

    def executable(self, folder: Path) -> Path:
        """The executable of this platform's own package."""
        path = folder / "node_modules" / "@cline" / f"cli-{platforms.here()}" / "bin" / "cline"
        if not path.is_file():
            raise VersionCannotRun(
                f"This version of Cline has no package for this platform ({platforms.here()}).",
                "Choose another version.",
            )
        return path

    def readonly(self, binary: Binary) -> tuple[Path, ...]:
        """The Python that runs our program inside, and its library."""
        return (Path(sys.base_prefix).resolve(),)

    def launch(self, context: Context) -> Launch:
        """Our program with the agent's command line; the provider stands in its settings."""
        data, place = context.home / ".cline/data", context.home / "lifeline"
        program = (str(pythons.ours()), "-I", "-S", "-B", "-X", "utf8", str(place / "inside.py"))
        stored = (str(data / "db/sessions.db"), str(context.logs / "sessions.jsonl"))
        argv = [
            *(str(context.binary.path), "--json", "--auto-approve", "true"),
            *("--data-dir", str(data), "--retries", str(context.options["mistakes"])),
            *("-P", PROVIDER, "-m", context.model, context.prompt),
        ]
        files = {
            place / "inside.py": Path(__file__).with_name("inside.py").read_text(encoding="utf-8"),
            data / "settings/providers.json": json.dumps(settings(context), indent=1),
            data / "settings/global-settings.json": json.dumps(QUIET, indent=1),
        }
        env = {
            "CLINE_NO_AUTO_UPDATE": "1",
            "CLINE_SESSION_BACKEND_MODE": "local",
            "NO_COLOR": "1",
        }
        return Launch(argv=(*program, *stored, *argv), env=env, files=files)

    def sources(self, context: Context) -> Iterable[Source]:
        """The stream, the rows of its database, and each conversation as it was stored."""
        children = Children()
        yield Source(name="stdout", reader=lambda file: LiveStdout(file, children), stream="stdout")
        yield Source(
            name="session", reader=named("cline-sessions").reader, glob="logs/sessions.jsonl"
        )
        yield Source(
            name="session",
            reader=lambda file: LiveMessages(file, children),
            glob="home/.cline/data/sessions/*/*.messages.json",
            late=True,
        )

    def tools(self, options: Mapping[str, Any], version: str) -> Tools:
        """Those of a team, or of ``spawn_agent``; the same for every version."""
        return TeamTools() if options["delegation"] == "team" else Tools()


def settings(context: Context) -> dict[str, Any]:
    """Its ``providers.json``: one loopback provider and a dummy key."""
    provider = {
        "provider": PROVIDER,
        "apiKey": "dummy",
        "model": context.model,
        "baseUrl": f"{context.base_url}/v1",
    }
    entry = {
        "settings": provider,
        "updatedAt": "2026-01-01T00:00:00.000Z",
        "tokenSource": "manual",
    }
    return {
        "version": 1,
        "lastUsedProvider": PROVIDER,
        "modes": {},
        "providers": {PROVIDER: entry},
    }


DRIVER = Cline()
