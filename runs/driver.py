"""What a driver is: our code that installs, starts and reads one agent.

A driver is one file in ``drivers/`` (a package when it outgrows that) that ends
with ``DRIVER = …``. It knows its agent's package, flags, environment, wire
dialects, spawn tool and log formats, and nothing of Django, other drivers or
how a run is executed. Reading is done by the transcript readers that imports use.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Protocol

from runs import versions
from runs.core.events import Kind
from runs.errors import UnknownName
from runs.option import Option

if TYPE_CHECKING:
    from fakes.script import ToolTable
    from fakes.targeting import CallerRule
    from runs.core.drift import Description
    from runs.core.events import Draft
    from runs.core.history import History
    from runs.scenario import Scenario
    from runs.transcript import Reader

Say = Callable[[str], None]
"""Takes one line of progress, for the page and standard error."""


@dataclass(frozen=True, slots=True)
class Package:
    """Where an agent's binaries come from. `scripts`: its install scripts must run (says why)."""

    registry: Literal["npm", "pypi", "builtin"]
    name: str
    scripts: str = ""
    extra: tuple[str, ...] = ()
    """Further requirements that are installed beside it (``openai-agents==0.13.6``); an npm one
    may name ``{version}``, as the package that holds the executable of this platform."""
    platform: str = ""
    """npm: what holds the executable, as ``NAME-{platform}@{version}``: without it in the
    registry's list a version has no package for this platform."""
    python: str = ""
    """The lowest Python that a package of pypi's needs (``3.12``); empty: any that we run on."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Binary:
    """One installed executable of an agent."""

    agent: str
    version: str
    path: Path
    """The executable."""
    folder: Path
    """What has to be readable to run it (the installation)."""
    sha256: str
    prepared: Path | None = None
    """What `prepare` made once for this version; each run gets its own view of it."""
    registered: bool = False
    """True for an executable that the operator named on the command line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """What a driver needs to launch one run. All paths are as the agent will see them."""

    scenario: Scenario
    options: Mapping[str, Any]
    base_url: str
    """``http://127.0.0.1:PORT`` of the fake provider, without a path."""
    dialect: str
    home: Path
    work: Path
    temp: Path
    logs: Path
    binary: Binary
    prompt: str
    """The operator's prompt, with the ROOT marker."""
    model: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """How to start the agent. `env` is the whole environment that the driver adds."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    files: Mapping[Path, str] = field(default_factory=dict)
    """Files to write before the start (configuration), by path as the agent sees it."""
    stdin: Literal["none", "pipe"] = "none"
    """`pipe` when the driver converses over standard input."""
    views: Mapping[Path, Path] = field(default_factory=dict)
    """Own writable copies to lay into the run: path as the agent sees it → prepared folder."""


@dataclass(frozen=True, slots=True)
class Source:
    """One stream of evidence. `name` is the view (stdout, session, log, hooks, rpc …).

    `glob` is relative to the run's folder for files that are tailed while they
    grow; the standard streams have none. A new file that matches gets a new reader.
    """

    name: str
    reader: Callable[[str], Reader]
    """Makes a reader for one file of the source; takes the file's short name (as in evidence)."""
    glob: str = ""
    stream: Literal["", "stdout", "stderr"] = ""
    late: bool = False
    """Its files are written anew as a whole: each is read once, when the run is over."""


class Emit(Protocol):
    """Gives a draft of the driver's own conversation to the recorder, with its raw line."""

    def __call__(self, draft: Draft, raw: bytes = b"") -> None: ...


class Conversation(Protocol):
    """A started agent that the driver talks to (app-server, HTTP): its pipes and its end."""

    async def send(self, line: bytes) -> None: ...
    async def line(self) -> bytes: ...

    """The next line of standard output, which is also recorded; b"" at its end."""

    def stop(self) -> None: ...

    """Asks the executor to end the process now (normal end of the run)."""


@dataclass(frozen=True, slots=True)
class Runtime:
    """What the run itself says about what ran. Empty strings: it did not say."""

    version: str = ""
    payload: str = ""
    node: str = ""
    problem: str = ""
    """Why the evidence is not good enough, else empty."""


class Driver(ABC):
    """One agent. See docs/adding-an-agent.md."""

    name: ClassVar[str]
    title: ClassVar[str]
    package: ClassVar[Package]
    oldest: ClassVar[str]
    """The first version that it can drive."""
    dialects: ClassVar[tuple[str, ...]]
    """Wire dialects, the default one first."""
    options: ClassVar[tuple[Option, ...]] = ()
    allowed_tools: ClassVar[frozenset[str]]
    """Tools that a valid run may advertise to or execute for the model, beyond the script's own."""
    observes: ClassVar[Mapping[str, str]] = {}
    """By law: what a black box can see of it here (for the agent's page)."""
    not_applicable: ClassVar[Mapping[str, str]] = {}
    """By scenario or fault: why it has no meaning for this agent."""
    only_named: ClassVar[str] = ""
    """Why a scenario that does not name this agent has none; "" where most have one."""
    not_applicable_with: ClassVar[Mapping[tuple[str, str], Mapping[str, str]]] = {}
    """The same for what has no meaning with one value of one option (``form``, ``exec``)."""
    not_applicable_before: ClassVar[Mapping[str, Mapping[str, str]]] = {}
    """The same for versions before the named one, the first that was seen to have it."""
    follows_redirects: ClassVar[bool] = True
    """Whether it follows a 307 of its provider; the fault `refused` depends on it."""
    registers: ClassVar[bool] = False
    """Whether a builtin agent may also be a command of the operator's, of whatever version."""
    public: ClassVar[bool] = False
    """Whether the public repro is about it: a run's outcome is also said in that one's words."""
    alone: ClassVar[Mapping[str, Any]] = {}
    """Options under which its command line alone plays a scenario, where the chosen ones need a
    conversation: for a script that somebody runs without Lifeline."""
    overhead_mib: ClassVar[int] = 512
    """Memory that one run needs, for the guard that is checked before the start."""

    @abstractmethod
    def executable(self, folder: Path) -> Path:
        """The executable inside an installation; HarnessError when it is not there."""

    def published(self) -> Sequence[tuple[str, str]]:
        """A builtin agent's versions with their dates, oldest first; others ask their registry."""
        return ()

    def can_start(self, version: str) -> bool:
        """Whether this version of a builtin agent starts at all."""
        return True

    def prepare(self, binary: Binary, folder: Path, say: Say) -> None:  # noqa: B027
        """Make once per version, in `folder`, what each run would else do at its start."""

    def readonly(self, binary: Binary) -> tuple[Path, ...]:
        """Folders beside the installation that the agent must be able to read (interpreter …)."""
        return ()

    def needs_prepare(self) -> bool:
        """Whether `prepare` does anything."""
        return False

    @abstractmethod
    def launch(self, context: Context) -> Launch:
        """Command line, environment and files for this version (``context.binary.version``)."""

    @abstractmethod
    def sources(self, context: Context) -> Iterable[Source]:
        """The streams of evidence of a run."""

    @abstractmethod
    def tools(self, options: Mapping[str, Any], version: str) -> ToolTable:
        """How the script's abstract actions (delegate, wait, poll …) are called on this agent."""

    def describe(self, version: str, prepared: Path | None) -> Description | None:
        """What its protocol looks like in this version (for the schema-drift page).

        `prepared` is what :meth:`prepare` made, None where the version is not installed.
        None: nothing says it; recorded runs do.
        """
        return None

    def described(self) -> Sequence[str]:
        """Versions that :meth:`describe` knows without an installation."""
        return ()

    def dialect(self, options: Mapping[str, Any]) -> str:
        """The wire dialect that these options choose."""
        return str(options.get("dialect") or self.dialects[0])

    def caller_rule(self, options: Mapping[str, Any], version: str) -> CallerRule | None:
        """How to tell who asks from a request's headers; None: by the markers in the prompts."""
        return None

    def converse(
        self, context: Context, conversation: Conversation, emit: Emit
    ) -> Awaitable[None] | None:
        """Drive a conversational agent to its end. None: it runs by its command line alone."""
        return None

    def runtime(self, history: History, binary: Binary) -> Runtime:
        """What the history proves about what ran: here, the version that a session's start says."""
        told = (str(event.get("version") or "") for event in history.of(Kind.SESSION_STARTED))
        version = next(filter(None, told), "")
        problem = "" if version else "nothing says which version ran"
        return Runtime(version=version, payload=version, problem=problem)

    def tools_allowed(self, options: Mapping[str, Any]) -> frozenset[str]:
        """What a valid run with these options may advertise or execute."""
        return self.allowed_tools

    def executed_tools(self, history: History) -> Mapping[str, int]:
        """Tools that ran, with how often, in the agent's own names."""
        counts: dict[str, int] = {}
        seen: set[str] = set()
        for event in history.of(Kind.TOOL_STARTED):
            call = str(event.get("call", event.seq))
            if call not in seen:
                seen.add(call)
                name = str(event.get("tool", ""))
                counts[name] = counts.get(name, 0) + 1
        return counts

    def no_meaning(self, options: Mapping[str, Any], version: str = "") -> dict[str, str]:
        """By scenario, fault or law: why it has no meaning with these options in this version."""
        reasons = dict(self.not_applicable)
        for first, more in self.not_applicable_before.items():
            if version and versions.key(version) < versions.key(first):
                reasons |= {name: f"before {first}, {why}" for name, why in more.items()}
        for (key, value), more in self.not_applicable_with.items():
            if str(options.get(key)) == value:
                reasons |= more
        return reasons

    def read_options(self, given: Mapping[str, Any]) -> dict[str, Any]:
        """Defaults with the given ones in their types; UnknownName and ValueError name the key."""
        known = {option.key: option for option in self.options}
        for key in given:
            if key not in known:
                raise UnknownName(
                    f"{self.name} has no option {key!r}.",
                    f"It has: {', '.join(known) or 'none'}.",
                )
        return {
            key: option.read(given[key]) if key in given else option.default
            for key, option in known.items()
        }
