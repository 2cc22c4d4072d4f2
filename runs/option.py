"""A driver's options: what `--set agents.NAME.KEY=VALUE` and a scenario may set."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

LEAVE: Final = -1
"""What a number among the options says that leaves the agent its own default."""


@dataclass(frozen=True, slots=True)
class Option:
    """A setting: ``--set agents.NAME.KEY=value``, and ``[agents.NAME]`` in a scenario."""

    key: str
    kind: Literal["choice", "int", "float", "bool", "text"]
    default: Any
    help: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    """The least that a number may be."""

    def read(self, value: Any) -> Any:
        """The value in its type; ValueError says what is allowed."""
        if self.kind == "choice":
            if str(value) not in self.choices:
                raise ValueError(f"{self.key} is one of {', '.join(self.choices)}, not {value!r}")
            return str(value)
        if self.kind == "bool":
            if str(value).lower() in ("1", "true", "yes", "on"):
                return True
            if str(value).lower() in ("0", "false", "no", "off"):
                return False
            raise ValueError(f"{self.key} is true or false, not {value!r}")
        read = {"int": int, "float": float, "text": str}[self.kind](value)
        if self.low is not None and read < self.low:
            raise ValueError(f"{self.key} is at least {self.low:g}, not {value!r}")
        return read


def dialect_option(dialects: Sequence[str]) -> Option:
    """Which protocol is spoken by an agent that knows several; the first is the default."""
    what = "The protocol that it speaks to its provider."
    return Option("dialect", "choice", dialects[0], what, tuple(dialects))
