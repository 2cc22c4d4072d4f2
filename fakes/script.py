"""What a script is: what the fake model says, free of dialect and agent.

A script is one file in ``scripts/`` that ends with ``SCRIPT = …``: a frozen
dataclass whose fields are its settings. It decides from each request alone (the
conversation is in it), never from the order of calls; where callers must be
ordered it names milestones, and the provider holds the reply back until then.
What it wants done is abstract (delegate, wait, poll …); the agent's driver gives
a :class:`ToolTable` that says how that is called there.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import ClassVar, Protocol, runtime_checkable

from fakes.dialect import ModelRequest, Reply, ToolCall
from fakes.settings import build, nearest, setting
from fakes.targeting import ROOT_MARKER, Identity, task_marker


@dataclass(frozen=True, slots=True)
class Task:
    """What a parent hands to a child. `path`: ``1``, ``2``, ``1.1`` …; `prompt` has its marker."""

    path: str
    name: str
    prompt: str
    background: bool
    model: str = ""


@dataclass(frozen=True, slots=True)
class Child:
    """A child that was delegated. `id`: the agent's own id of it; empty while unknown.

    `announced`: somebody spoke to the parent since its last call, so there may be news of it;
    a table whose agent has a tool to fetch them, and none to wait, gives a call only then.
    """

    path: str
    id: str = ""
    announced: bool = False


class ToolTable(Protocol):
    """How a script's actions are called on one agent. None: this agent has no such tool."""

    def delegate(self, task: Task) -> ToolCall:
        """The call that starts a sub-agent."""

    def wait(self, child: Child) -> ToolCall | None:
        """Wait until the child has ended."""

    def poll(self, child: Child) -> ToolCall | None:
        """Ask how the child is doing, without waiting."""

    def message(self, child: Child, text: str) -> ToolCall | None:
        """Give the child more work."""

    def cancel(self, child: Child) -> ToolCall | None:
        """Stop the child."""

    def work(self, form: str) -> ToolCall | None:
        """A harmless tool: ``note`` (trivial), ``quiet`` (silent for seconds), ``ask`` (must
        be permitted)."""

    def children(self, request: ModelRequest) -> dict[str, str]:
        """The agent's ids of the children, by path, read out of the tools' outputs."""


@runtime_checkable
class Finisher(Protocol):
    """A table of an agent whose sub-agents end by a call, not by a text alone."""

    def finish(self, text: str) -> ToolCall:
        """The call that hands in a sub-agent's answer and ends it."""


@runtime_checkable
class Recruiter(Protocol):
    """A table of an agent where a sub-agent is made by one call and given its task by the next."""

    def recruit(self, task: Task) -> ToolCall | None:
        """The call that makes the sub-agent; None: the call that delegates makes it."""


@dataclass(frozen=True, slots=True)
class Stage:
    """What a script sees beside the request. `call` and `attempt` count from 1."""

    identity: Identity
    tools: ToolTable
    call: int = 1
    attempt: int = 1
    notes: dict[str, int] = field(default_factory=dict)
    """Kept for this caller from call to call, for what a conversation does not tell."""


@dataclass(frozen=True)
class Script(ABC):
    """One script. Fill in the texts, write :meth:`reply` and :meth:`tasks`."""

    name: ClassVar[str]
    title: ClassVar[str]
    sentence: ClassVar[str]

    per_token: float = setting(
        0.0, "Pause before each word of an answer.", unit="s", low=0, high=60
    )
    first: float = setting(
        0.0, "Pause before the first byte of an answer.", unit="s", low=0, high=600
    )

    @abstractmethod
    def reply(self, caller: str, request: ModelRequest, stage: Stage) -> Reply:
        """What the model says to `caller` (``parent``, ``child:1`` …)."""

    @abstractmethod
    def tasks(self) -> tuple[Task, ...]:
        """Everything that is delegated, by path, also by children."""


def root_prompt(script: Script) -> str:
    """The operator's prompt for a run of this script."""
    return (
        f"{ROOT_MARKER} This is a test of delegation ({script.name}). "
        "Delegate the task with your sub-agent tool, then report what came back in one sentence."
    )


def task(path: str, *, background: bool = True, model: str = "") -> Task:
    """The task with this path; its prompt has its marker and no other."""
    return Task(
        path=path,
        name=f"lifeline-{path.replace('.', '-')}",
        prompt=f"{task_marker(path)} Answer this task with one short sentence.",
        background=background,
        model=model,
    )


@cache
def scripts() -> Mapping[str, type[Script]]:
    """All scripts by name."""
    from fakes import scripts as folder
    from fakes.registry import members

    return {each.name: each for each in members(folder, "SCRIPT").values()}


def make_script(name: str, settings: Mapping[str, object] | None = None) -> Script:
    """The script with these settings; ValueError names what is unknown."""
    if name not in scripts():
        raise ValueError(f"There is no script {name!r}{nearest(name, scripts())}")
    return build(scripts()[name], settings or {}, name)
