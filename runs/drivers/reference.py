"""The reference agent: ours, built in, scripted, honest unless asked to break one thing.

It needs no download: its installation is the package ``fakes``, its executable
the Python that runs Lifeline, and it pretends to come in some twenty versions.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from fakes.dialect import ModelRequest, ToolCall
from fakes.reference_agent.misbehaviours import table
from fakes.reference_agent.versions import KNOWN, VERSIONS
from fakes.script import Child, Task
from fakes.targeting import CallerRule, Identity
from runs import pythons
from runs.core.events import Kind
from runs.core.history import History
from runs.core.judge import laws
from runs.driver import Binary, Context, Driver, Launch, Package, Runtime, Source
from runs.errors import HarnessError
from runs.option import Option, dialect_option
from runs.transcripts.reference import ReferenceReader

DIALECTS = ("responses", "chat_completions", "messages", "generate_content")
AGENT_ID = re.compile(r"root|agent(-\d{1,4}){1,8}")


@dataclass(frozen=True, slots=True)
class Tools:
    """How a script's actions are called on the reference agent. `waits`: it has a tool for that."""

    waits: bool = False

    def delegate(self, task: Task) -> ToolCall:
        """Start an agent; the task's path goes along and comes back in the output."""
        given: dict[str, Any] = {
            "task": task.path,
            "name": task.name,
            "prompt": task.prompt,
            "background": task.background,
        }
        if task.model:
            given["model"] = task.model
        return ToolCall("delegate", given)

    def wait(self, child: Child) -> ToolCall | None:
        """Wait for the child's end; without a tool for it the parent is notified."""
        if not self.waits:
            return None
        return ToolCall("wait", {"agent": child.id or child.path})

    def poll(self, child: Child) -> ToolCall:
        """Ask how it is doing."""
        return ToolCall("poll", {"agent": child.id or child.path})

    def message(self, child: Child, text: str) -> ToolCall:
        """Give it more work."""
        return ToolCall("message", {"agent": child.id or child.path, "text": text})

    def cancel(self, child: Child) -> ToolCall:
        """Stop it."""
        return ToolCall("cancel", {"agent": child.id or child.path})

    def work(self, form: str) -> ToolCall | None:
        """A harmless tool."""
        forms: dict[str, dict[str, Any]] = {
            "note": {"text": "noted"},
            "quiet": {"seconds": 1.5},
            "ask": {"what": "leave to take a note"},
        }
        return ToolCall(form, forms[form]) if form in forms else None

    def children(self, request: ModelRequest) -> dict[str, str]:
        """Ids by path, from the outputs of the tools."""
        found: dict[str, str] = {}
        for turn in request.turns:
            if turn.role != "tool":
                continue
            try:
                output = json.loads(turn.text)
            except (ValueError, RecursionError):
                continue
            if isinstance(output, dict) and output.get("agent") and output.get("task"):
                found[str(output["task"])] = str(output["agent"])
        return found


def by_header(request: ModelRequest) -> Identity | None:
    """Who asks: the agent says its id, depth and parent in headers."""
    agent = request.headers.get("x-agent-id", "")
    depth = request.headers.get("x-agent-depth", "")
    if not AGENT_ID.fullmatch(agent) or not depth.isdecimal():
        return None
    return Identity(int(depth), agent, request.headers.get("x-parent-agent-id", ""))


class Reference(Driver):
    """The agent of :mod:`fakes.reference_agent`."""

    name: ClassVar[str] = "reference"
    title: ClassVar[str] = "Reference agent"
    package: ClassVar[Package] = Package("builtin", "fakes.reference_agent")
    oldest: ClassVar[str] = VERSIONS[0].number
    dialects: ClassVar[tuple[str, ...]] = DIALECTS
    allowed_tools: ClassVar[frozenset[str]] = frozenset(
        {"delegate", "wait", "poll", "message", "cancel", "note", "quiet", "ask"}
    )
    overhead_mib: ClassVar[int] = 64
    options: ClassVar[tuple[Option, ...]] = (
        dialect_option(DIALECTS),
        Option("form", "choice", "stream", "The form of answers.", ("stream", "plain")),
        Option(
            "misbehave",
            "choice",
            "none",
            "The one thing that it breaks.",
            ("none", *table()),
        ),
        Option("retries", "int", 4, "Tries after the first one."),
        Option("delay", "float", 0.1, "The first wait between two tries, in seconds."),
        Option("idle_timeout", "float", 30.0, "Seconds without content after which a try fails."),
        Option("max_children", "int", 8, "Children that may run at once."),
        Option("max_depth", "int", 3, "How deep delegation may go."),
        Option("wait", "bool", False, "Whether it has a tool to wait for a child."),
        Option(
            "restart",
            "choice",
            "never",
            "When it is killed and started again.",
            ("never", "child-running", "child-ended", "child-told"),
        ),
        Option("seed", "int", -1, "For jitter and races; below 0: another one each time."),
    )
    observes: ClassVar[Mapping[str, str]] = dict.fromkeys(
        laws(), "its log says all that this law needs"
    )

    def published(self) -> list[tuple[str, str]]:
        """The versions that it pretends to come in, oldest first, with their dates."""
        return [(version.number, version.date) for version in VERSIONS]

    def can_start(self, version: str) -> bool:
        """Whether that version starts at all; one of them does not."""
        return version in KNOWN and KNOWN[version].starts

    def executable(self, folder: Path) -> Path:
        """The program's first file; it is run by our own Python."""
        path = folder / "fakes" / "reference_agent" / "__main__.py"
        if not path.is_file():
            raise HarnessError(f"There is no reference agent in {folder}.", "Install again.")
        return path

    def readonly(self, binary: Binary) -> tuple[Path, ...]:
        """The package that it is a part of, the interpreter and its library."""
        return (binary.folder.parent, Path(sys.base_prefix).resolve())

    def launch(self, context: Context) -> Launch:
        """One prompt, as a command line."""
        options = context.options
        argv = [
            str(pythons.ours()),
            *("-B", "-E", "-s", "-S", "-X", "utf8"),
            str(context.binary.path),
            *("--pretend", context.binary.version),
            *("--url", context.base_url),
            *("--dialect", context.dialect),
            *("--form", str(options["form"])),
            *("--model", context.model),
            *("--logs", str(context.logs)),
            *("--retries", str(options["retries"])),
            *("--delay", str(options["delay"])),
            *("--idle-timeout", str(options["idle_timeout"])),
            *("--max-children", str(options["max_children"])),
            *("--max-depth", str(options["max_depth"])),
            *("--restart", str(options["restart"])),
            *("--prompt", context.prompt),
        ]
        if options["wait"]:
            argv.append("--wait")
        if options["misbehave"] != "none":
            argv += ["--misbehave", str(options["misbehave"])]
        if options["seed"] >= 0:
            argv += ["--seed", str(options["seed"])]
        return Launch(argv=tuple(argv), env={})

    def sources(self, context: Context) -> Iterable[Source]:
        """Standard output, and the three files that it writes."""
        yield Source("stdout", lambda file: ReferenceReader(file, "stdout"), stream="stdout")
        for view in ("session", "hooks", "trace"):
            yield Source(view, _reader(view), glob=f"logs/{view}.jsonl")

    def tools(self, options: Mapping[str, Any], version: str) -> Tools:
        """The same for every version."""
        return Tools(waits=bool(options["wait"]))

    def caller_rule(self, options: Mapping[str, Any], version: str) -> CallerRule:
        """Its requests name their agent."""
        return by_header

    def runtime(self, history: History, binary: Binary) -> Runtime:
        """The version that its first record states."""
        for event in history.of(Kind.SESSION_STARTED):
            version = str(event.get("version", ""))
            problem = "" if version == binary.version else "it reports another version"
            return Runtime(version=version, payload=str(binary.path), problem=problem)
        return Runtime(problem="it never said its version")


def _reader(view: str) -> Any:
    return lambda file: ReferenceReader(file, view)


DRIVER = Reference()
