"""What one start of the agent is asked to do, as its command line says it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Everything that the command line sets. Times in seconds."""

    url: str
    """The provider, ``http://HOST:PORT``."""
    prompt: str
    logs: Path
    """Folder of session.jsonl, hooks.jsonl, trace.jsonl and state.json."""
    version: str
    dialect: str = "responses"
    model: str = "gpt-5.4"
    stream: bool = True
    retries: int = 4
    """Tries after the first one."""
    delay: float = 0.1
    """The first wait between two tries; each next one is twice as long, plus jitter."""
    idle_timeout: float = 30.0
    """No content for so long means that the call has failed."""
    max_children: int = 8
    """Children of the whole tree that may run at once."""
    max_depth: int = 3
    wait: bool = False
    """Whether there is a tool to wait for a child; without it the parent is notified."""
    restart: str = ""
    """When to be killed and started again: `child-running`, `child-ended`, or never."""
    resume: bool = False
    misbehave: frozenset[str] = frozenset()
    seed: int | None = None


TOOLS: Mapping[str, Mapping[str, tuple[str, bool]]] = {
    "delegate": {
        "task": ("Path of the task in the plan, as 1 or 1.2", True),
        "name": ("A short name", True),
        "prompt": ("What the agent has to do", True),
        "background": ("Whether to go on without waiting", False),
        "model": ("The model to use, if another", False),
    },
    "wait": {"agent": ("The agent's id", True)},
    "poll": {"agent": ("The agent's id", True)},
    "message": {"agent": ("The agent's id", True), "text": ("What to say", True)},
    "cancel": {"agent": ("The agent's id", True)},
    "note": {"text": ("What to note", False)},
    "quiet": {"seconds": ("How long to say nothing", False)},
    "ask": {"what": ("What to ask leave for", False)},
}
"""The tools with their parameters: what each means and whether it is required."""

KINDS = {"background": "boolean", "seconds": "number"}


def schemas(wait: bool) -> list[dict[str, object]]:
    """The tools as dialects advertise them. `wait`: with the tool that waits for a child."""
    made: list[dict[str, object]] = []
    for name, parameters in TOOLS.items():
        if name == "wait" and not wait:
            continue
        properties = {
            key: {"type": KINDS.get(key, "string"), "description": text}
            for key, (text, _required) in parameters.items()
        }
        required = [key for key, (_text, required) in parameters.items() if required]
        schema = {"type": "object", "properties": properties, "required": required}
        made.append({"name": name, "description": f"The {name} tool.", "parameters": schema})
    return made


@dataclass(slots=True)
class Notice:
    """Word of a child's end on its way to the agent that spawned it."""

    child: str
    status: str
    result: str
    run: int
    name: str = ""
    error: str = ""

    def text(self) -> str:
        """What the agent's model reads."""
        said = f"Agent {self.child} ({self.name}) has {self.status}."
        if self.error:
            return f"{said} Error: {self.error}"
        return f"{said} Result: {self.result}" if self.result else said

    def facts(self, form: str) -> dict[str, object]:
        """What the log says of its delivery."""
        return {
            "child": self.child,
            "status": self.status,
            "raw": self.status,
            "form": form,
            "has_result": bool(self.result or self.error),
            "text_length": len(self.result or self.error),
            "error_passed": bool(self.error),
            "run": self.run,
        }


@dataclass(slots=True)
class Usage:
    """How many records and calls there were, for the trace."""

    counts: dict[str, int] = field(default_factory=dict)

    def next(self, what: str) -> int:
        """The next number of that series, from 1."""
        self.counts[what] = self.counts.get(what, 0) + 1
        return self.counts[what]
