"""omnigent, from 0.12 on: a server, a runner and its harness on loopback, and their sessions.

Its server cannot be reached from outside of the seal, so a small program of ours
(``inside``) runs inside, as the started process: it starts server and runner, makes a
session, hands over the prompt, prints every stream and, at the end, what is stored.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, ClassVar

from runs.core.history import History
from runs.driver import Binary, Context, Driver, Launch, Package, Runtime, Source
from runs.drivers._log import Log
from runs.drivers.omnigent.about import NOT_APPLICABLE, NOT_APPLICABLE_WITH, OBSERVES, OPTIONS
from runs.drivers.omnigent.evidence import LiveStream, missed, too_slow
from runs.drivers.omnigent.tools import EVERYTHING, Tools
from runs.drivers.omnigent.world import OFF, agents, place, plan
from runs.errors import VersionCannotRun
from runs.option import Option
from runs.transcript import named

INSIDE = Path(__file__).with_name("inside")
START = (
    "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); "
    "runpy.run_module('inside', run_name='__main__', alter_sys=True)"
)
"""Runs the package ``inside`` of the folder that is the first argument."""


class Omnigent(Driver):
    """Server, runner and the ``openai-agents`` harness, with one prompt."""

    name: ClassVar[str] = "omnigent"
    title: ClassVar[str] = "omnigent"
    package: ClassVar[Package] = Package(
        "pypi", "omnigent", extra=("openai-agents==0.13.6",), python="3.12"
    )
    oldest: ClassVar[str] = "0.12.0"
    dialects: ClassVar[tuple[str, ...]] = ("chat_completions",)
    allowed_tools: ClassVar[frozenset[str]] = EVERYTHING
    overhead_mib: ClassVar[int] = 1536
    options: ClassVar[tuple[Option, ...]] = OPTIONS
    observes: ClassVar[Mapping[str, str]] = OBSERVES
    not_applicable: ClassVar[Mapping[str, str]] = NOT_APPLICABLE
    not_applicable_with: ClassVar[Mapping[tuple[str, str], Mapping[str, str]]] = NOT_APPLICABLE_WITH

    def executable(self, folder: Path) -> Path:
        """The command in its environment."""
        path = folder / "venv" / "bin" / "omnigent"
        if not path.is_file():
            raise VersionCannotRun(
                "This version of omnigent has no command.", "Choose another one."
            )
        return path

    def readonly(self, binary: Binary) -> tuple[Path, ...]:
        """The interpreter that its environment is made of."""
        python = binary.folder / "venv" / "bin" / "python"
        base = python.resolve().parents[1] if python.exists() else Path(sys.base_prefix)
        return (base.resolve(),)

    def launch(self, context: Context) -> Launch:
        """Our program, with the agent's folder and a plan of what to start and what to ask."""
        folder = place(context)
        files = {
            folder / "inside" / path.name: path.read_text(encoding="utf-8")
            for path in sorted(INSIDE.glob("*.py"))
        }
        alone = Path(__file__).with_name("alone.py")
        files |= {
            folder / "alone.py": alone.read_text(encoding="utf-8"),
            folder / "plan.json": json.dumps(plan(context)),
            context.home / "data" / "artifacts" / ".keep": "",
            **agents(context),
        }
        python = str(context.binary.folder / "venv" / "bin" / "python")
        argv = (python, "-I", "-S", "-B", "-X", "utf8", "-c", START)
        return Launch(argv=(*argv, str(folder), str(folder / "plan.json")), env=OFF, files=files)

    def sources(self, context: Context) -> Iterable[Source]:
        """The streams of all sessions, and the logs of server, runner and harnesses."""
        yield Source(name="stdout", reader=LiveStream, stream="stdout")
        yield Source(
            name="session", reader=named("omnigent-export").reader, glob="logs/exports/*.json"
        )
        yield Source(name="log", reader=Log, stream="stderr")
        yield Source(name="log", reader=Log, glob="logs/*.log")
        yield Source(name="log", reader=Log, glob="home/.omnigent/logs/**/*.log")

    def tools(self, options: Mapping[str, Any], version: str) -> Tools:
        """The same for every version."""
        return Tools()

    def runtime(self, history: History, binary: Binary) -> Runtime:
        """The version that its server answers with; a host that is too slow proves nothing."""
        slow = too_slow(history)
        if slow:
            return Runtime(problem=f"the harness of {slow} did not come up: this host is too slow")
        moment = missed(history)
        if moment:
            return Runtime(problem=f"nothing was done to it: the moment {moment} never came")
        return super().runtime(history, binary)


DRIVER = Omnigent()
