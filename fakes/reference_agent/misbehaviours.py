"""The one named thing that the agent can be asked to break: a table, one entry each.

The table is ``misbehaviours.toml`` beside this file. Code asks
``behaviour.breaks("told-twice")`` at the one place where the rule is kept.
"""

from __future__ import annotations

import random
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

TABLE = Path(__file__).with_name("misbehaviours.toml")


@dataclass(frozen=True, slots=True, kw_only=True)
class Misbehaviour:
    """One way to be wrong, where to see it, and what must come of it."""

    name: str
    says: str
    """What the agent does then, in one sentence."""
    family: str
    law: str
    """The law that it breaks."""
    diagnosis: str
    scenario: str
    """The shipped scenario that shows it."""
    sets: Mapping[str, Any] = field(default_factory=dict)
    """``--set`` pairs that go with the scenario, so that it takes seconds."""
    consequences: tuple[str, ...] = ()
    """Laws that may be broken with it because they follow from it."""
    twin: str = ""
    """Another scenario in which the law is seen to hold; empty: the same one."""


@cache
def table() -> Mapping[str, Misbehaviour]:
    """Every misbehaviour by name, in the table's order."""
    given = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    made = {}
    for name, entry in given.items():
        values = {**entry, "consequences": tuple(entry.get("consequences", ()))}
        made[name] = Misbehaviour(name=name, **values)
    return made


class Behaviour:
    """How this start behaves. Unknown names are a ValueError that lists the known ones."""

    def __init__(self, names: frozenset[str], seed: int | None = None) -> None:
        unknown = names - set(table())
        if unknown:
            raise ValueError(
                f"no misbehaviour {', '.join(sorted(unknown))}; known: {', '.join(table())}"
            )
        self.names = names
        self.random = random.Random(seed)

    def breaks(self, name: str) -> bool:
        """Whether that rule is to be broken. A name that the table lacks is a bug here."""
        if name not in table():
            raise KeyError(name)
        return name in self.names
