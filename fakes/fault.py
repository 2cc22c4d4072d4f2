"""What a fault is: one way to break one answer.

A fault is one file in ``faults/`` that ends with ``FAULT = …``: a frozen dataclass
whose fields are its settings, and a method :meth:`Fault.play` that sends the
answer its own way. *What* breaks is here; *which* request is hit is a target's
business (targeting.py).

    answer.begin()  status line and headers      answer.end()    proper end of the body
    answer.send()   a piece of the good answer   answer.cut()    close without that end
    answer.mark()   "here I acted" (journal)     answer.reset()  RST

Each form of an answer comes in pieces, the stream as its events, the plain body in
three parts, so that most faults need not know the form. Every fault must call
``mark`` when it acts: one that was aimed and left no mark makes the run invalid.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, ClassVar

from fakes.settings import build, nearest
from fakes.targeting import AimedFault, Target

if TYPE_CHECKING:
    from fakes.answer import Answer


@dataclass(frozen=True)
class Fault(ABC):
    """One fault. Fill in the texts, write :meth:`play`, end with ``FAULT = …``."""

    name: ClassVar[str]
    title: ClassVar[str]
    sentence: ClassVar[str]
    seen: ClassVar[str]
    """What a client sees."""
    picture: ClassVar[str] = ""
    """One line of the wire, for the catalogue."""
    meaningless: ClassVar[Mapping[str, str]] = {}
    """Where it has no meaning, and why: by dialect, form, or both (``messages plain``)."""

    @abstractmethod
    async def play(self, answer: Answer) -> None:
        """Send the answer, broken. Returns when the exchange is over."""

    def error_class(self) -> str:
        """What kind of failure it makes of the answer (runs' words); empty: it stays whole."""
        return "stream"

    def status(self) -> int:
        """The HTTP status that the client gets; 0: none."""
        return 200

    def why_not(self, dialect: str, stream: bool) -> str:
        """Why it has no meaning there; empty where it has one."""
        form = "stream" if stream else "plain"
        for key in (f"{dialect} {form}", dialect, form):
            if key in self.meaningless:
                return self.meaningless[key]
        return ""


@cache
def faults() -> Mapping[str, type[Fault]]:
    """All faults by name."""
    from fakes import faults as folder
    from fakes.registry import members

    return {each.name: each for each in members(folder, "FAULT").values()}


def make_fault(name: str, settings: Mapping[str, object] | None = None) -> Fault:
    """The fault with these settings; ValueError names what is unknown."""
    if name not in faults():
        raise ValueError(f"There is no fault {name!r}{nearest(name, faults())}")
    return build(faults()[name], settings or {}, name)


def aim(values: Mapping[str, object]) -> AimedFault:
    """One entry of a scenario's ``[[faults]]``: ``{fault, on, …settings}``; ValueError says why."""
    settings = dict(values)
    name, on = settings.pop("fault", None), settings.pop("on", {})
    if not isinstance(name, str):
        raise ValueError('Every entry of faults needs the name of its fault: fault = "sse-cut".')
    if not isinstance(on, Mapping):
        raise ValueError(f'{name}: on must be a table such as {{caller = "child"}}, not {on!r}')
    return AimedFault(make_fault(name, settings), Target.parse(on))
