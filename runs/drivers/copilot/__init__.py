"""GitHub Copilot CLI, any version from 1.0.34 on: its package, command line, logs and tools."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from runs import platforms
from runs.core.events import Kind
from runs.core.history import History
from runs.driver import Binary, Context, Driver, Launch, Package, Runtime, Say, Source
from runs.drivers.copilot.evidence import LogReader, RuntimeReader, preload
from runs.drivers.copilot.tools import EVERYTHING, SETS, Tools
from runs.errors import VersionCannotRun
from runs.option import Option
from runs.sealed import rehearse
from runs.transcript import named
from runs.versions import release

WIRES = {"responses": "responses", "completions": "chat_completions", "messages": "messages"}
"""The option ``wire`` in the agent's words, by our dialect."""
CHANGES_FOLDER = (1, 0, 45)
"""From here on ``-C`` is known to be taken (1.0.39 rejects it); it is started there anyway."""
NO_EXPORT = (1, 0, 60)
"""From here on ``--no-remote-export`` is known to be taken (1.0.47 rejects it)."""
DENIED = "shell,write,read,url,memory,fetch"
COMPLETE = ".extraction-complete"
CACHE = ".cache/copilot"


def _platform() -> str:
    """This machine in the words of the package's names: ``linux-x64``, ``linuxmusl-arm64``."""
    name = platforms.here()
    return name.replace("linux", "linuxmusl", 1) if platforms.musl() else name


class Copilot(Driver):
    """One prompt, not interactive, JSON lines on standard output."""

    name: ClassVar[str] = "copilot"
    title: ClassVar[str] = "GitHub Copilot CLI"
    package: ClassVar[Package] = Package(
        "npm",
        "@github/copilot",
        extra=(f"@github/copilot-{_platform()}@{{version}}",),
        platform="@github/copilot-{platform}@{version}",
    )
    oldest: ClassVar[str] = "1.0.34"
    dialects: ClassVar[tuple[str, ...]] = tuple(WIRES.values())
    allowed_tools: ClassVar[frozenset[str]] = frozenset({"task", "read_agent"})
    overhead_mib: ClassVar[int] = 384
    follows_redirects: ClassVar[bool] = False
    public: ClassVar[bool] = True
    options: ClassVar[tuple[Option, ...]] = (
        Option(
            "wire",
            "choice",
            "responses",
            "The protocol that it speaks to its provider.",
            tuple(WIRES),
        ),
        Option(
            "tools",
            "choice",
            "task",
            "What the model is offered: the spawn tool alone, the tools around sub-agents, or all.",
            tuple(SETS),
        ),
        Option(
            "agent_type",
            "choice",
            "general-purpose",
            "The kind of sub-agent that is started.",
            ("general-purpose", "task", "explore", "code-review"),
        ),
        Option(
            "permissions",
            "choice",
            "allow",
            "Whether tools run unasked, or need a permission that nobody can give.",
            ("allow", "ask"),
        ),
        Option("stream", "choice", "on", "The form of answers that it asks for.", ("on", "off")),
        Option("preload", "bool", True, "Have a preload note the loaded payload and Node."),
    )
    observes: ClassVar[Mapping[str, str]] = {
        "L1": "terminal events of standard output and of the session file",
        "L2": "the provider's journal against the terminal events",
        "L3": "system notifications, the parent's next request, and the exit code",
        "L6": "the provider's journal; what Copilot says of its retries differs by version",
        "L13": "standard output against the session file",
        "L16": "the exit code against terminal events",
    }
    not_applicable: ClassVar[Mapping[str, str]] = {
        "cancel-child": "no version gives the model a tool that stops a sub-agent"
    }

    def executable(self, folder: Path) -> Path:
        """The single executable of this platform's own package."""
        place = f"@github/copilot-{_platform()}"
        path = folder / "node_modules" / place / "copilot"
        if not path.is_file():
            raise VersionCannotRun(
                f"This version of Copilot has no package for this platform ({_platform()}).",
                "Choose another version.",
            )
        return path

    def needs_prepare(self) -> bool:
        """Its first start extracts 68 to 235 MB, which takes seconds."""
        return True

    def prepare(self, binary: Binary, folder: Path, say: Say) -> None:
        """Let it extract its payload once; runs read it and write nothing to it."""
        env = {**_quiet("{home}"), "COPILOT_CACHE_HOME": f"{{home}}/{CACHE}"}
        done = rehearse(
            (str(binary.path), "--version"),
            env,
            readonly=(binary.folder,),
            keep=CACHE,
            into=folder,
        )
        if done.code != 0 or not any(folder.glob(f"pkg/*/*/{COMPLETE}")):
            raise VersionCannotRun(
                f"copilot@{binary.version} does not start (exit {done.code}): "
                f"{done.output.strip()[-300:] or 'it says nothing'}",
                "Choose another version.",
            )

    def dialect(self, options: Mapping[str, Any]) -> str:
        """Ours of its three."""
        return WIRES[str(options.get("wire", "responses"))]

    def launch(self, context: Context) -> Launch:
        """The public repro's command line, less what this version does not know."""
        options, numbers = context.options, release(context.binary.version)
        files: dict[Path, str] = {}
        argv = [
            str(context.binary.path),
            *("--no-custom-instructions", "--disable-builtin-mcps", "--no-ask-user"),
            *("--no-remote", *(["--no-remote-export"] if numbers >= NO_EXPORT else [])),
            *("--no-color", "--no-auto-update"),
            *("--model", context.model, "--log-dir", str(context.logs)),
            *("--output-format", "json", "--stream", str(options["stream"])),
            *(["-C", str(context.work)] if numbers >= CHANGES_FOLDER else []),
        ]
        offered = SETS[str(options["tools"])]
        if offered:
            argv += ["--available-tools", ",".join(offered), "--deny-tool", DENIED]
        if options["permissions"] == "allow":
            argv.append("--allow-all-tools")
        if options["preload"]:
            script = context.home / "lifeline" / "preload.cjs"
            files[script] = preload(context.logs / "runtime.jsonl")
            argv.append(f"--node-options=--require {script}")
        argv += ["-p", context.prompt]
        return Launch(argv=tuple(argv), env=self._environment(context), files=files)

    def _environment(self, context: Context) -> dict[str, str]:
        prepared = context.binary.prepared
        messages = context.dialect == "messages"
        env = {
            **_quiet(str(context.home)),
            "COPILOT_CACHE_HOME": str(prepared or context.home / CACHE),
            "COPILOT_PROVIDER_BASE_URL": context.base_url + ("" if messages else "/v1"),
            "COPILOT_PROVIDER_TYPE": "anthropic" if messages else "openai",
            "COPILOT_PROVIDER_MODEL_ID": context.model,
            "COPILOT_PROVIDER_WIRE_MODEL": context.model,
        }
        if not messages:
            env["COPILOT_PROVIDER_WIRE_API"] = str(context.options["wire"])
        return env

    def readonly(self, binary: Binary) -> tuple[Path, ...]:
        """The extracted payload, where it does not lie in the installation."""
        prepared = binary.prepared
        if prepared is None or prepared.is_relative_to(binary.folder):
            return ()
        return (prepared,)

    def sources(self, context: Context) -> Iterable[Source]:
        """Standard output and error, the session's file, the process log, the preload's notes."""
        yield Source(name="stdout", reader=named("copilot-stdout-jsonl").reader, stream="stdout")
        yield Source(name="log", reader=_log, stream="stderr")
        yield Source(
            name="session",
            reader=named("copilot-events-jsonl").reader,
            glob="home/.copilot/session-state/*/events.jsonl",
        )
        yield Source(name="log", reader=_log, glob="logs/process-*.log")
        yield Source(name="process", reader=_runtime, glob="logs/runtime.jsonl")

    def tools(self, options: Mapping[str, Any], version: str) -> Tools:
        """By what this run offers to the model."""
        return Tools(release(version), str(options["tools"]), str(options["agent_type"]))

    def tools_allowed(self, options: Mapping[str, Any]) -> frozenset[str]:
        """What the run offers, and ``read_agent``, which Copilot calls by itself."""
        offered = str(options.get("tools", "task"))
        return self.allowed_tools | set(SETS[offered]) | (EVERYTHING if offered == "all" else set())

    def runtime(self, history: History, binary: Binary) -> Runtime:
        """The version in its session file, and the payload that the preload saw."""
        version = payload = node = ""
        for event in history.of(Kind.SESSION_STARTED):
            version = version or str(event.get("version", ""))
        for event in history.of(Kind.RUNTIME):
            payload = str(event.get("payload") or payload)
            node = str(event.get("node") or node)
        problem = ""
        if not version and not payload:
            problem = "nothing says which payload was loaded"
        elif version and payload and version != payload:
            problem = f"the session says {version}, but {payload} was loaded"
        return Runtime(version=version or payload, payload=payload, node=node, problem=problem)


def _log(file: str) -> LogReader:
    return LogReader(file, "log")


def _runtime(file: str) -> RuntimeReader:
    return RuntimeReader(file, "process")


def _quiet(home: str) -> dict[str, str]:
    """Everything that would ask, update, report or look for somebody's credentials, off."""
    return {
        "COPILOT_HOME": f"{home}/.copilot",
        "COPILOT_AUTO_UPDATE": "false",
        "COPILOT_OFFLINE": "true",
        "COPILOT_OTEL_ENABLED": "false",
        "NO_COLOR": "1",
    }


DRIVER = Copilot()
