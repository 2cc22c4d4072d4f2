"""What the owner of a parent's turn hears, what it wants done, and what it remembers.

The vocabulary of :mod:`runs.core.continuation`; plain data, no behaviour.
Times are seconds of whatever clock the caller passes in.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum

WINDOW = 30.0
"""Seconds for which a continuation whose answer was lost may still show its turn."""
WARN_AFTER = 60.0
GIVE_UP_AFTER = 600.0


class Phase(StrEnum):
    """Where the owner stands."""

    STARTING = "starting"
    """The first turn was asked for and is not known yet."""
    TURN = "turn"
    """A turn of the parent runs."""
    SETTLING = "settling"
    """It ended; what has already arrived is looked at before anything is decided."""
    WAITING = "waiting"
    """No turn of the parent runs; children do."""
    DECIDED = "decided"
    """The last child ended: a continuation is decided, no byte of it is written."""
    SENT = "sent"
    """Its bytes are out; neither an answer nor its turn has come."""
    AMBIGUOUS = "ambiguous"
    """Its answer is lost: the turn may come or not."""
    FENCED = "fenced"
    """Stopped after the bytes went out: only kept to interrupt the turn that may come."""
    STOPPING = "stopping"
    """Stopped while a turn runs, which is interrupted."""
    STOPPED = "stopped"
    """Stopped between turns; what has already arrived is looked at once more."""
    DONE = "done"


# What it hears. `generation` is the transport's: what an older one says counts for nothing.


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """Anything that the owner is told."""

    generation: int = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnStarted(Heard):
    thread: str
    turn: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnEnded(Heard):
    """`completed` is True only where the server says so in a word that we know."""

    thread: str
    turn: str
    status: str = "completed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Said(Heard):
    """A final answer."""

    thread: str
    turn: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Spawned(Heard):
    """`turn` is the turn in which the spawn is reported, as evidence of whose child it is."""

    sender: str
    child: str
    turn: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildActive(Heard):
    """Something about a child that is no end: `turn` where its own thread begins one."""

    child: str
    turn: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildEnded(Heard):
    """`turn` is the turn of the child's own thread that ended, where that is said."""

    child: str
    how: str = "completed"
    turn: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted(Heard):
    """The request that was sent last is answered with this turn."""

    turn: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused(Heard):
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerLost(Heard):
    """The bytes are out, and no answer will come."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Quiet(Heard):
    """Everything that had arrived has been told."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AtWrite(Heard):
    """The transport stands before the write of `what`: the last moment to say no."""

    what: str
    turn: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stop(Heard):
    """Somebody stops `run`; `cascade`: its children as well."""

    run: str
    cascade: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Replaced(Heard):
    """The session belongs to another run now."""

    run: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NewGeneration(Heard):
    """The transport was replaced; `generation` is the new one's number."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal(Heard):
    """A goal of the thread begins or ends: another controller that starts turns."""

    active: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class Tick(Heard):
    """Time has passed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gone(Heard):
    """The connection is over."""


# What it wants done


@dataclass(frozen=True, slots=True)
class Settle:
    """Tell everything that has arrived, then Quiet."""


@dataclass(frozen=True, slots=True)
class Approach:
    """Go to the write of `what` (``continue``, ``interrupt``), tell what arrived, then AtWrite."""

    what: str
    turn: str = ""


@dataclass(frozen=True, slots=True)
class Continue:
    """Write a turn without user input, under the run's own id."""

    run: str
    number: int


@dataclass(frozen=True, slots=True)
class Interrupt:
    thread: str
    turn: str


@dataclass(frozen=True, slots=True)
class Emit:
    """An answer for the user."""

    turn: str
    text: str


@dataclass(frozen=True, slots=True)
class Show:
    """Another thing for the user to see: a warning, a refused stop."""

    text: str


@dataclass(frozen=True, slots=True)
class Retire:
    """The transport of that generation is given up."""

    generation: int


@dataclass(frozen=True, slots=True)
class ListTurns:
    """Ask the server which turns there are. No rule allows it."""


@dataclass(frozen=True, slots=True)
class Close:
    """Close the turn's handle, subscriptions and handlers."""


@dataclass(frozen=True, slots=True)
class Finalize:
    """The one result of the run."""

    turn: str
    text: str
    exit_code: int = 0
    stopped: bool = False
    why: str = ""


Want = (
    Settle | Approach | Continue | Interrupt | Emit | Show | Retire | ListTurns | Close | Finalize
)


# What it remembers


@dataclass(slots=True)
class Turn:
    """One native turn of the parent."""

    id: str
    started: float
    ended: float | None = None
    status: str = ""
    completed: bool | None = False
    """True exactly where the server said a known last word; None where nobody can tell."""


@dataclass(slots=True)
class Child:
    """One child of this run. `turns` are the turns of its own thread that were seen."""

    id: str
    since: float
    generation: int
    status: str = "running"
    ended: float | None = None
    turn: str = ""
    """The turn of its own thread that was seen last."""
    turns: set[str] = field(default_factory=set)

    @property
    def open(self) -> bool:
        """Whether it still runs."""
        return self.ended is None


@dataclass(slots=True)
class Attempt:
    """One continuation: when it was decided, behind which turn, and what became of it."""

    number: int
    decided: float
    after: str
    bytes_sent: bool = False
    acknowledged: bool | None = None
    """True: answered; False: the answer was lost; None: none was due yet."""
    bound: str = ""
    void: str = ""
    """Why it came to nothing, empty while it may."""
