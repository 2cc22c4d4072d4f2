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

from fakes.dialect import Problem
from fakes.settings import build, nearest
from fakes.targeting import AimedFault, Target

if TYPE_CHECKING:
    from fakes.answer import Answer

BY_STATUS = {
    401: "auth",
    403: "auth",
    408: "timeout",
    429: "rate_limit",
    503: "overloaded",
    504: "timeout",
    529: "overloaded",
}
BY_CODE = {
    "rate_limit_exceeded": 429,
    "insufficient_quota": 429,
    "server_is_overloaded": 503,
    "overloaded_error": 529,
    "context_length_exceeded": 400,
    "invalid_prompt": 400,
    "model_not_supported": 400,
    "authentication_error": 401,
}
"""The HTTP status that an error code inside an answer stands for; others: 500."""


def class_of_status(status: int) -> str:
    """The error class of an HTTP status; empty for a good one."""
    if status < 400:
        return ""
    return BY_STATUS.get(status, "bad_request" if status < 500 else "server")


def problem_of_code(code: str) -> Problem:
    """The problem that an error code inside an answer means."""
    return Problem(BY_CODE.get(code, 500), code, f"Lifeline broke this answer: {code}.")


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

    def answers(self) -> int:
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
