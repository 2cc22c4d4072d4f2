"""What an owner of a parent's turn remembers, what counts for it, and its only way out."""

from __future__ import annotations

from typing import Any

from runs.core import owning as o
from runs.core.owning import Phase, Want

Wants = list[Want]
_LAST_WORDS = ("completed", "interrupted", "failed")


class Memory:
    """The state of one run's owner on one thread."""

    def __init__(
        self,
        run: str,
        thread: str,
        *,
        proof: str = "",
        generation: int = 1,
        breaks: str = "",
        window: float = o.WINDOW,
        warn_after: float = o.WARN_AFTER,
        give_up_after: float = o.GIVE_UP_AFTER,
    ) -> None:
        self.run, self.thread, self.proof, self.generation = run, thread, proof, generation
        self.breaks = breaks
        self.window, self.warn_after, self.give_up_after = window, warn_after, give_up_after
        self.phase = Phase.STARTING
        self.turns: dict[str, o.Turn] = {}
        self.children: dict[str, o.Child] = {}
        self.attempts: list[o.Attempt] = []
        self.live: o.Turn | None = None
        self.last: o.Turn | None = None
        self.answer = ("", "")
        self.stop_at: float | None = None
        self.owed = False
        """A child ended after the last turn began to end: nobody has read its result."""
        self.goal = self.warned = self.retired = False
        self.since = 0.0
        self.now = 0.0
        self.deadline: float | None = None
        self._pending = ""
        self._early: dict[str, str] = {}

    def keeps(self, rule: str) -> bool:
        """Whether this owner keeps that rule."""
        return self.breaks != rule

    def snapshot(self) -> dict[str, Any]:
        """What others may see of it, as JSON: never what authorises it (CL-33)."""
        shown: dict[str, Any] = {
            "run": self.run,
            "thread": self.thread,
            "phase": self.phase.value,
            "generation": self.generation,
            "turns": list(self.turns),
            "children": {one.id: one.status for one in self.children.values()},
            "waiting": self.phase in (Phase.WAITING, Phase.DECIDED),
            "stopped": self.stop_at is not None,
        }
        return shown if self.keeps("CL-33") else {**shown, "proof": self.proof}

    @property
    def open_children(self) -> list[str]:
        """Children of this run that have not ended."""
        return [one.id for one in self.children.values() if one.open]

    @property
    def attempt(self) -> o.Attempt | None:
        """The last continuation, unless it came to nothing."""
        return self.attempts[-1] if self.attempts and not self.attempts[-1].void else None

    # What counts

    def _counts(self, heard: o.Heard) -> bool:
        if isinstance(heard, o.NewGeneration):
            return True
        if heard.generation != self.generation and self.keeps("CL-22"):
            return False
        if isinstance(heard, o.Stop):
            return heard.run == self.run or not self.keeps("CL-35")
        if isinstance(heard, o.Spawned):
            mine = heard.sender == self.thread or not self.keeps("CL-37")
            return mine and (heard.turn in self.turns or not self.keeps("CL-6"))
        if isinstance(heard, o.TurnStarted | o.TurnEnded | o.Said):
            return self._my_turn(heard)
        return True

    def _my_turn(self, heard: o.TurnStarted | o.TurnEnded | o.Said) -> bool:
        if heard.thread != self.thread and self.keeps("CL-6"):
            return False
        known = self.turns.get(heard.turn)
        if isinstance(heard, o.TurnStarted):
            return known is None or (known is not self.live and not self.keeps("CL-27"))
        bound = self.live is not None and self.live.id == heard.turn
        return bound or not self.keeps("CL-27")

    # Steps that several phases share

    def _run(self, turn: str) -> None:
        self.live = self.turns.setdefault(turn, o.Turn(turn, self.now))
        self.owed, self.deadline = False, None
        if self.phase not in (Phase.STOPPED, Phase.FENCED, Phase.DONE, Phase.STOPPING):
            self.phase = Phase.TURN

    def _close_turn(self, turn: o.Turn, status: str) -> None:
        turn.ended, turn.status = self.now, status
        turn.completed = True if status in _LAST_WORDS else None
        self.live, self.last = None, turn

    def _retire(self) -> Wants:
        if self.retired:
            return []
        self.retired = True
        return [o.Retire(self.generation)]

    def _finish(self, *, exit_code: int = 0, stopped: bool = False, why: str = "") -> Wants:
        """The only way out: everything is closed, and there is one result (CL-34)."""
        turn, text = self.answer
        self.phase, self.deadline = Phase.DONE, None
        end = o.Finalize(turn, text, exit_code, stopped, why)
        return [o.Close(), end] if self.keeps("CL-34") else [end, end]
