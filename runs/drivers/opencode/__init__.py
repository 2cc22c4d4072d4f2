"""OpenCode, any version from 1.2 on: its package, its server and command line, logs and tools.

Its server cannot be reached from outside of the seal, so a small program of ours
(``inside.py``) runs inside, as the started process: it starts the agent, hands it the
prompt, prints what it hears and, at the end, writes down what the agent has stored.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from fakes.targeting import CallerRule
from runs import platforms, pythons
from runs.driver import Binary, Context, Driver, Launch, Package, Source
from runs.drivers._log import Log
from runs.drivers.opencode.about import NOT_APPLICABLE, OBSERVES, OPTIONS, PACKAGES
from runs.drivers.opencode.callers import Sessions
from runs.drivers.opencode.evidence import LiveBus, LiveExport
from runs.drivers.opencode.tools import EVERYTHING, Tools
from runs.errors import VersionCannotRun
from runs.option import LEAVE, Option
from runs.transcript import named
from runs.versions import release

PROVIDER = "lifeline"
DEPTH = (1, 18, 0)
"""The first version whose configuration knows how deep sub-agents may nest."""
_OFF = (
    *("AUTOUPDATE", "MODELS_FETCH", "LSP_DOWNLOAD", "DEFAULT_PLUGINS", "PROJECT_CONFIG"),
    *("CLAUDE_CODE", "EXTERNAL_SKILLS", "AUTOCOMPACT", "SHARE"),
)


class OpenCode(Driver):
    """A server with one prompt, or one prompt on the command line."""

    name: ClassVar[str] = "opencode"
    title: ClassVar[str] = "OpenCode"
    package: ClassVar[Package] = Package(
        "npm", "opencode-ai", platform="opencode-{platform}@{version}"
    )
    oldest: ClassVar[str] = "1.2.0"
    dialects: ClassVar[tuple[str, ...]] = tuple(PACKAGES)
    allowed_tools: ClassVar[frozenset[str]] = EVERYTHING
    overhead_mib: ClassVar[int] = 768
    options: ClassVar[tuple[Option, ...]] = OPTIONS
    observes: ClassVar[Mapping[str, str]] = OBSERVES
    not_applicable: ClassVar[Mapping[str, str]] = NOT_APPLICABLE

    def executable(self, folder: Path) -> Path:
        """The executable of this platform's own package."""
        for name in _platforms():
            path = folder / "node_modules" / f"opencode-{name}" / "bin" / "opencode"
            if path.is_file():
                return path
        raise VersionCannotRun(
            f"This version of OpenCode has no package for this platform ({_platforms()[0]}).",
            "Choose another version.",
        )

    def readonly(self, binary: Binary) -> tuple[Path, ...]:
        """The Python that runs our program inside, and its library."""
        return (Path(sys.base_prefix).resolve(),)

    def launch(self, context: Context) -> Launch:
        """Our program, with a plan of what to start and what to ask."""
        place, serves = context.home / "lifeline", context.options["form"] == "serve"
        argv = [str(context.binary.path)]
        if serves:
            argv += ["serve", "--hostname", "127.0.0.1", "--port", "0"]
        else:
            argv += ["run", "--format", "json", "--model", f"{PROVIDER}/{context.model}"]
        argv += ["--print-logs", "--log-level", "WARN"]
        limits = release(context.binary.version) >= DEPTH
        plan = {
            **({"depth": context.options["subagent_depth"]} if limits else {}),
            "form": str(context.options["form"]),
            "argv": argv if serves else [*argv, context.prompt],
            "message": {"parts": [{"type": "text", "text": context.prompt}]},
            "answer": context.options["permissions"] == "ask",
            "interrupt": str(context.options["interrupt"]),
            "exports": str(context.logs / "exports"),
            "data": str(context.home / ".local/share/opencode"),
        }
        files = {
            place / "inside.py": Path(__file__).with_name("inside.py").read_text(encoding="utf-8"),
            place / "plan.json": json.dumps(plan),
            place / "opencode.json": json.dumps(configuration(context), indent=1),
        }
        env = {f"OPENCODE_DISABLE_{name}": "1" for name in _OFF}
        env["OPENCODE_CONFIG"] = str(place / "opencode.json")
        if context.options["background"]:
            env["OPENCODE_EXPERIMENTAL_BACKGROUND_SUBAGENTS"] = "true"
        program = (str(pythons.ours()), "-I", "-S", "-B", "-X", "utf8", str(place / "inside.py"))
        return Launch(
            argv=(*program, str(place / "plan.json")), env={**env, "NO_COLOR": "1"}, files=files
        )

    def sources(self, context: Context) -> Iterable[Source]:
        """The bus (or the run's output), the log, and each session as it was stored."""
        serves = context.options["form"] == "serve"
        live = LiveBus if serves else named("opencode-run-json").reader
        yield Source(name="stdout", reader=live, stream="stdout")
        yield Source(name="log", reader=Log, stream="stderr")
        yield Source(name="session", reader=LiveExport, glob="logs/exports/*.json")

    def tools(self, options: Mapping[str, Any], version: str) -> Tools:
        """The same for every version."""
        return Tools(str(options["agent_type"]), bool(options["background"]))

    def caller_rule(self, options: Mapping[str, Any], version: str) -> CallerRule:
        """By the sessions that newer versions name in headers; else by the markers."""
        return Sessions()


def configuration(context: Context) -> dict[str, Any]:
    """Its ``opencode.json``: one loopback provider, a dummy key, nothing that phones home."""
    options = context.options
    provider: dict[str, Any] = {"baseURL": f"{context.base_url}/v1", "apiKey": "dummy"}
    if options["chunk_timeout_ms"] != LEAVE:
        provider["chunkTimeout"] = options["chunk_timeout_ms"]
    chosen = f"{PROVIDER}/{context.model}"
    found: dict[str, Any] = {
        "share": "disabled",
        "autoupdate": False,
        "enabled_providers": [PROVIDER],
        "model": chosen,
        "small_model": chosen,
        "permission": {"bash": "ask" if options["permissions"] == "ask" else "allow"},
        "provider": {
            PROVIDER: {
                "npm": PACKAGES[context.dialect],
                "name": "Lifeline",
                "options": provider,
                "models": {
                    context.model: {
                        "name": context.model,
                        "tool_call": True,
                        "limit": {"context": 200_000, "output": 8192},
                    }
                },
            }
        },
    }
    if options["subagent_depth"] > 1:  # A sub-agent is not offered the tool unless it may use it.
        found["agent"] = {str(options["agent_type"]): {"permission": {"task": "allow"}}}
    if release(context.binary.version) >= DEPTH:
        found["subagent_depth"] = options["subagent_depth"]
    return found


def _platforms() -> tuple[str, ...]:
    """This machine in the words of the package's names, the best first."""
    base, libc = platforms.here(), "-musl" if platforms.musl() else ""
    if base.endswith("x64") and not _has_avx2():
        return (f"{base}-baseline{libc}",)
    return (f"{base}{libc}", f"{base}-baseline{libc}")


def _has_avx2() -> bool:
    """Whether the processor has what the plain x64 executable needs."""
    try:
        return " avx2" in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return True


DRIVER = OpenCode()
